//! Whether the server is away: calls wait, and nothing arrives from it. Pure: the caller passes the time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::Patience;

/// How long a call waits while it is known that the server is away: a round trip of any path, so that the server is found when
/// it is back.
const AWAY_PATIENCE: Duration = Duration::from_secs(1);

/// What is known of a server's absence. Without [`Patience::WhileHeard`], it is never away.
#[derive(Debug)]
pub(super) struct Absence {
    patience: Option<Duration>,
    is_away: AtomicBool,
    /// When it was last asked for a sign of life, in milliseconds.
    asked: AtomicU64,
}

impl Absence {
    /// A server that is there.
    pub(super) fn new(patience: Patience) -> Self {
        let patience = match patience {
            Patience::WhileHeard(patience) => Some(patience),
            Patience::Hard | Patience::Soft(_) => None,
        };
        Self { patience, is_away: AtomicBool::new(false), asked: AtomicU64::new(0) }
    }

    /// Whether it is away.
    pub(super) fn is_away(&self) -> bool {
        self.is_away.load(Ordering::Relaxed)
    }

    /// How long a call waits while nothing is heard; `None`: for ever.
    pub(super) fn patience(&self) -> Option<Duration> {
        self.patience.map(|patience| if self.is_away() { patience.min(AWAY_PATIENCE) } else { patience })
    }

    /// Whether a call is refused for which nothing was heard for so long.
    pub(super) fn is_too_long(&self, quiet: Duration) -> bool {
        self.patience().is_some_and(|patience| quiet >= patience)
    }

    /// A call was refused: says whether that is news.
    pub(super) fn on_refused(&self) -> bool {
        !self.is_away.swap(true, Ordering::Relaxed)
    }

    /// Something was received.
    pub(super) fn on_heard(&self) {
        if self.is_away() {
            self.is_away.store(false, Ordering::Relaxed);
        }
    }

    /// Whether a server that has said nothing for so long is to be asked for a sign of life now: one that is busy with long calls is
    /// not away.
    pub(super) fn should_ask(&self, quiet: Duration, now: Duration) -> bool {
        let Some(patience) = self.patience() else { return false };
        let since_asked = now.saturating_sub(Duration::from_millis(self.asked.load(Ordering::Relaxed)));
        let is_due = quiet.min(since_asked) >= patience / 2;
        if is_due {
            self.asked.store(now.as_millis() as u64, Ordering::Relaxed);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_server_that_is_away_is_waited_for_less() {
        let absence = Absence::new(Patience::WhileHeard(10 * SECOND));
        assert!(!absence.is_too_long(9 * SECOND) && absence.is_too_long(10 * SECOND));
        assert!(absence.on_refused() && !absence.on_refused(), "it is news once");
        assert!(absence.is_away() && absence.is_too_long(SECOND));
        absence.on_heard();
        assert!(!absence.is_away() && !absence.is_too_long(9 * SECOND));
    }

    #[test]
    fn it_is_asked_twice_within_the_patience() {
        let absence = Absence::new(Patience::WhileHeard(10 * SECOND));
        let asked = |quiet, now| absence.should_ask(quiet * SECOND, now * SECOND);
        let times: Vec<u32> = (20..40).filter(|now| asked(now - 20, *now)).collect();
        assert_eq!(times, [25, 30, 35]);
    }

    #[test]
    fn other_channels_wait_as_they_did() {
        for patience in [Patience::Hard, Patience::Soft(SECOND)] {
            let absence = Absence::new(patience);
            assert!(!absence.is_too_long(Duration::MAX) && !absence.should_ask(Duration::MAX, SECOND));
        }
    }
}
