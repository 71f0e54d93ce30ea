//! Whether the server is there: calls wait, and nothing arrives from it.

use std::time::Duration;

use super::settings::Patience;
use crate::client::Class;

/// How long a call waits while it is known that the server is away: a round trip of any path, so that the server is found when
/// it is back.
const AWAY_PATIENCE: Duration = Duration::from_secs(1);
/// How long a server says nothing while calls wait before a person learns of it.
const COMPLAIN: Duration = Duration::from_secs(15);

/// How long the server is silent before the report of a mount shows it.
const WORTH_SHOWING: Duration = Duration::from_secs(5);

/// What is known of the server. Without [`Patience::WhileHeard`], it is never away.
#[derive(Debug)]
pub(super) struct Server {
    patience: Patience,
    /// When something was last received on any lane.
    heard: Duration,
    is_away: bool,
    /// The log says that it does not respond.
    has_complained: bool,
    /// When it was last asked for a sign of life.
    asked: Duration,
}

impl Server {
    /// A server that is there.
    pub(super) fn new(patience: Patience) -> Self {
        let (heard, asked) = (Duration::ZERO, Duration::ZERO);
        Self { patience, heard, is_away: false, has_complained: false, asked }
    }

    /// When a call that starts now is given up.
    pub(super) fn deadline(&self, now: Duration) -> Option<Duration> {
        match self.patience {
            Patience::Hard | Patience::WhileHeard(_) => None,
            Patience::Soft(patience) => now.checked_add(patience),
        }
    }

    /// Whether the time of some call may be over, or a person is to learn that calls wait.
    pub(super) fn may_have_late_calls(&self, now: Duration) -> bool {
        match self.patience {
            Patience::Hard => self.quiet(now) >= COMPLAIN,
            Patience::Soft(_) => true,
            Patience::WhileHeard(_) => {
                self.while_heard().is_some_and(|patience| self.quiet(now) >= patience / 2)
            }
        }
    }

    /// Something was received: whether that ends what a person knows of.
    pub(super) fn on_heard(&mut self, now: Duration) -> bool {
        (self.heard, self.is_away) = (self.heard.max(now), false);
        std::mem::replace(&mut self.has_complained, false)
    }

    /// A call waits for so long: whether a person is to learn now that nothing at all was heard meanwhile.
    pub(super) fn on_waiting(&mut self, waited: Duration, now: Duration) -> bool {
        let is_quiet = waited >= COMPLAIN && self.quiet(now) >= COMPLAIN;
        is_quiet && !std::mem::replace(&mut self.has_complained, true)
    }

    /// A call is refused: whether a person is to learn that now.
    pub(super) fn on_refused(&mut self) -> bool {
        !std::mem::replace(&mut self.is_away, true) && !std::mem::replace(&mut self.has_complained, true)
    }

    /// Whether it is away.
    pub(super) fn is_away(&self) -> bool {
        self.is_away
    }

    /// How long it has been silent while calls wait, the oldest of them since `started`.
    pub(super) fn silent(&self, started: Option<Duration>, now: Duration) -> Option<Duration> {
        let waiting = started.map(|started| self.quiet_since(started, now));
        let known = self.has_complained.then(|| self.quiet(now));
        known.or(waiting.filter(|quiet| *quiet >= WORTH_SHOWING))
    }

    /// How long a call that started then has waited without anything being heard.
    pub(super) fn quiet_since(&self, started: Duration, now: Duration) -> Duration {
        self.quiet(now).min(now.saturating_sub(started))
    }

    /// Whether calls for which nothing was heard for so long are refused.
    pub(super) fn is_too_long(&self, quiet: Duration) -> bool {
        self.while_heard().is_some_and(|patience| quiet >= patience)
    }

    /// Whether a server that has said nothing for so long is to be asked for a sign of life now: one that is busy with long calls is
    /// not away.
    pub(super) fn should_ask(&mut self, quiet: Duration, now: Duration) -> bool {
        let Some(patience) = self.while_heard() else { return false };
        let is_due = quiet.min(now.saturating_sub(self.asked)) >= patience / 2;
        if is_due {
            self.asked = now;
        }
        is_due
    }

    /// How long a call waits while nothing is heard; `None`: for ever.
    fn while_heard(&self) -> Option<Duration> {
        match self.patience {
            Patience::WhileHeard(patience) if self.is_away => Some(patience.min(AWAY_PATIENCE)),
            Patience::WhileHeard(patience) => Some(patience),
            Patience::Hard | Patience::Soft(_) => None,
        }
    }

    fn quiet(&self, now: Duration) -> Duration {
        now.saturating_sub(self.heard)
    }
}

/// Whether it does no harm that a call runs although its caller made it again, and later than others.
pub fn changes_nothing(class: Class) -> bool {
    match class {
        Class::Attributes | Class::Lookup | Class::Listing | Class::Read | Class::Commit => true,
        Class::Write | Class::Change => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn who_asks_learns_early_that_calls_wait_and_nothing_is_heard() {
        let mut server = Server::new(Patience::Hard);
        server.on_heard(100 * SECOND);
        assert_eq!(server.silent(None, 500 * SECOND), None, "nothing waits");
        assert_eq!(server.silent(Some(496 * SECOND), 500 * SECOND), None, "it is early");
        assert_eq!(server.silent(Some(490 * SECOND), 500 * SECOND), Some(10 * SECOND));
        assert!(server.on_waiting(15 * SECOND, 505 * SECOND));
        assert_eq!(server.silent(None, 505 * SECOND), Some(405 * SECOND), "a person knows");
    }

    #[test]
    fn a_server_that_is_away_is_waited_for_less() {
        let mut server = Server::new(Patience::WhileHeard(10 * SECOND));
        assert!(!server.is_too_long(9 * SECOND) && server.is_too_long(10 * SECOND));
        assert!(server.on_refused() && !server.on_refused(), "it is news once");
        assert!(server.is_away() && server.is_too_long(SECOND));
        assert!(server.on_heard(20 * SECOND) && !server.on_heard(20 * SECOND), "so is its return");
        assert!(!server.is_away() && !server.is_too_long(9 * SECOND));
    }

    #[test]
    fn it_is_asked_twice_within_the_patience() {
        let mut server = Server::new(Patience::WhileHeard(10 * SECOND));
        let mut asked = |quiet, now| server.should_ask(quiet * SECOND, now * SECOND);
        let times: Vec<u32> = (20..40).filter(|now| asked(now - 20, *now)).collect();
        assert_eq!(times, [25, 30, 35]);
    }

    #[test]
    fn other_channels_wait_for_ever_or_until_a_deadline() {
        for patience in [Patience::Hard, Patience::Soft(SECOND)] {
            let mut server = Server::new(patience);
            assert!(!server.is_too_long(Duration::MAX) && !server.should_ask(Duration::MAX, SECOND));
            let deadline = (patience != Patience::Hard).then_some(3 * SECOND);
            assert_eq!(server.deadline(2 * SECOND), deadline);
        }
    }
}
