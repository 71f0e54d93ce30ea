//! Judges whether the path below a connection is lost: what is sent is not acknowledged, for seconds. A server that is slow is
//! another matter: its host acknowledges all the same.
//!
//! TCP waits twice as long each time before it sends again what was lost, so that a connection would go on only as long after an outage
//! as that has lasted. Pure: sights come in with their time.

use std::time::Duration;

/// So long something that was sent again must have been in vain before the path counts as lost: a hiccup is over by then.
const LOST: Duration = Duration::from_secs(3);
/// The same where connections were made anew, one after the other, and none delivered anything: it doubles up to this.
const LOST_MOST: Duration = Duration::from_secs(10);
/// A long path gets so many of its round trips.
const LOST_ROUND_TRIPS: u32 = 4;
/// So long nothing must have come, while a call waits and nothing of ours is on the way, before something is sent to see whether it
/// arrives: what is lost then is the reply, and the server's host alone knows.
const QUIET: Duration = Duration::from_secs(3);
/// A server whose host acknowledges again has so long to answer, from when it was asked or what is under way last moved: its replies may
/// wait for its timer, which has doubled too. A long path gets so many of its round trips here, too.
const GRACE: Duration = Duration::from_secs(2);

/// A sight of a connection.
#[derive(Debug, Clone, Copy)]
pub struct Sight {
    /// The time.
    pub now: Duration,
    /// How long ago the oldest of its calls was sent.
    pub waited: Duration,
    /// When something was last received on it, or it was made.
    pub heard: Duration,
    /// When anything was last acknowledged.
    pub acknowledged: Duration,
    /// What was sent was sent again, and is not acknowledged yet.
    pub is_in_vain: bool,
    /// Something is on its way to the server.
    pub is_under_way: bool,
    /// Something was received on it.
    pub has_answered: bool,
    /// The caller could ask the server for a sign of life now.
    pub may_ask: bool,
    /// Smoothed round trip of its path.
    pub round_trip: Duration,
}

/// What the kernel says of what was sent on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SentState {
    /// Something was sent, again and in vain.
    pub is_in_vain: bool,
    /// Something was sent that is not acknowledged yet.
    pub is_under_way: bool,
    /// How long ago the peer's host acknowledged anything.
    pub since_acknowledgement: Duration,
    /// Smoothed round trip of the path.
    pub round_trip: Duration,
}

/// What there is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutageFinding {
    /// Nothing.
    #[default]
    Fine,
    /// Asking the server for a sign of life over this connection.
    Ask,
    /// Trying another connection; this one's calls move there as soon as it stands.
    Lost,
    /// Trying it on; this one may be alive again, and keeps its calls for now.
    Stirring,
}

/// What is known of one connection, and of those before it.
#[derive(Debug, Default)]
pub struct Outage {
    /// Since when what is sent is in vain.
    in_vain: Option<Duration>,
    /// When the path was found lost.
    lost: Option<Duration>,
    /// When it was last asked for.
    asked: Option<Duration>,
    /// So many connections before this one were given up, and none since delivered anything.
    given_up: u32,
}

impl Outage {
    /// Whether the path is lost, as far as is known: another connection has yet to show that it is back.
    pub fn is_on(&self) -> bool {
        self.lost.is_some() || self.given_up > 0
    }

    /// The connection is another one now, since the one before was given up for this.
    pub fn on_given_up(&mut self) {
        *self = Self { given_up: self.given_up.saturating_add(1), ..Self::default() };
    }

    /// Judges a connection with calls.
    pub fn judge(&mut self, sight: &Sight) -> OutageFinding {
        if let Some(lost) = self.lost {
            return self.judge_lost(lost, sight);
        }
        let Sight { now, waited, heard, acknowledged, is_in_vain, has_answered, may_ask, round_trip, .. } =
            *sight;
        if has_answered {
            self.given_up = 0;
        }
        self.in_vain = match self.in_vain {
            _ if !is_in_vain => None,
            Some(since) if acknowledged <= since => Some(since),
            _ => Some(now),
        };
        let patience = LOST.saturating_mul(1 << self.given_up.min(8)).min(LOST_MOST);
        if self.in_vain.is_some_and(|since| now - since >= patience.max(round_trip * LOST_ROUND_TRIPS)) {
            self.lost = Some(now);
            self.asked = None;
            return OutageFinding::Lost;
        }
        let is_quiet = !is_in_vain && waited >= QUIET && now.saturating_sub(heard) >= QUIET;
        if is_quiet && may_ask && self.asked.is_none_or(|asked| heard > asked) {
            self.asked = Some(now);
            return OutageFinding::Ask;
        }
        OutageFinding::Fine
    }

    fn judge_lost(&mut self, lost: Duration, sight: &Sight) -> OutageFinding {
        let Sight { now, heard, acknowledged, is_under_way, may_ask, round_trip, .. } = *sight;
        if heard > lost {
            *self = Self::default();
            return OutageFinding::Fine;
        }
        if acknowledged <= lost {
            return OutageFinding::Lost;
        }
        let Some(asked) = &mut self.asked else {
            // Who is in the middle of a call cannot ask, nor need it: the rest of that call does.
            self.asked = Some(now);
            return if may_ask { OutageFinding::Ask } else { OutageFinding::Stirring };
        };
        if is_under_way {
            *asked = acknowledged.max(*asked);
        }
        let grace = GRACE.max(round_trip * LOST_ROUND_TRIPS);
        if now.saturating_sub(*asked) < grace { OutageFinding::Stirring } else { OutageFinding::Lost }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Duration = Duration::from_millis(100);

    fn seconds(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    /// A call that was sent at 10 s over a connection that had nothing to do before, seen at this time.
    fn sight(now: f64) -> Sight {
        Sight {
            now: seconds(now),
            waited: seconds(now - 10.0),
            heard: seconds(1.0),
            acknowledged: seconds(1.0),
            is_in_vain: false,
            is_under_way: false,
            has_answered: false,
            may_ask: true,
            round_trip: Duration::from_millis(1),
        }
    }

    /// What was sent again at 10.2 s is not acknowledged.
    fn in_vain(now: f64) -> Sight {
        Sight { is_in_vain: now > 10.2, ..sight(now) }
    }

    /// When something else is first found than that all is well, looking ten times a second from 10 s on for a minute.
    fn first(outage: &mut Outage, see: impl Fn(f64) -> Sight) -> Option<(f64, OutageFinding)> {
        (0..600).find_map(|tick| {
            let now = (seconds(10.0) + tick * TICK).as_secs_f64();
            let finding = outage.judge(&see(now));
            (finding != OutageFinding::Fine).then_some((now, finding))
        })
    }

    fn lost() -> Outage {
        let mut outage = Outage::default();
        let (at, finding) = first(&mut outage, in_vain).expect("something is found");
        assert_eq!(finding, OutageFinding::Lost);
        assert!((13.2..13.5).contains(&at), "{at}");
        outage
    }

    /// What was sent over it is acknowledged at 40 s, and nothing since.
    fn acknowledged(now: f64) -> Sight {
        Sight { acknowledged: seconds(40.0), ..sight(now) }
    }

    fn stirring() -> Outage {
        let mut outage = lost();
        assert_eq!(outage.judge(&acknowledged(40.0)), OutageFinding::Ask);
        outage
    }

    #[test]
    fn a_path_is_lost_when_nothing_is_acknowledged_for_seconds() {
        let mut outage = lost();
        assert_eq!(outage.judge(&in_vain(60.0)), OutageFinding::Lost, "and stays so");
    }

    #[test]
    fn a_server_that_is_slow_or_has_no_room_is_asked_once_and_never_lost() {
        let answers_nothing = |now: f64| Sight { acknowledged: seconds(now.min(13.2)), ..sight(now) };
        let mut outage = Outage::default();
        assert_eq!(first(&mut outage, answers_nothing), Some((13.0, OutageFinding::Ask)));
        assert_eq!(first(&mut outage, answers_nothing), None);
        // Probes of a closed window are answered, however briefly one is under way.
        let has_no_room =
            |now: f64| Sight { is_in_vain: true, acknowledged: seconds(now.floor()), ..sight(now) };
        assert_eq!(first(&mut Outage::default(), has_no_room), None);
    }

    #[test]
    fn a_slow_call_on_a_server_that_answers_others_is_asked_for_now_and_then() {
        let mut outage = Outage::default();
        assert_eq!(outage.judge(&sight(13.0)), OutageFinding::Ask);
        let answered = |now: f64| Sight { heard: seconds(13.1), ..sight(now) };
        assert_eq!(outage.judge(&answered(16.0)), OutageFinding::Fine);
        assert_eq!(outage.judge(&answered(16.1)), OutageFinding::Ask);
    }

    #[test]
    fn a_long_path_has_more_time() {
        let far = |now: f64| Sight { round_trip: seconds(2.0), ..in_vain(now) };
        let (at, _) = first(&mut Outage::default(), far).expect("it is lost");
        assert!((18.2..18.5).contains(&at), "{at}");
    }

    #[test]
    fn a_connection_that_comes_alive_keeps_its_calls() {
        let mut outage = stirring();
        assert_eq!(outage.judge(&acknowledged(41.0)), OutageFinding::Stirring);
        assert_eq!(outage.judge(&Sight { heard: seconds(41.5), ..acknowledged(41.5) }), OutageFinding::Fine);
        assert!(!outage.is_on());
    }

    #[test]
    fn one_whose_replies_wait_for_the_servers_timer_is_given_up() {
        let mut outage = stirring();
        assert_eq!(outage.judge(&acknowledged(41.9)), OutageFinding::Stirring);
        assert_eq!(outage.judge(&acknowledged(42.0)), OutageFinding::Lost);
    }

    #[test]
    fn one_that_moves_is_not_given_up_however_slow_it_is() {
        let mut outage = lost();
        let moves = |now: f64| Sight { is_under_way: true, acknowledged: seconds(now - 1.0), ..sight(now) };
        assert_eq!(outage.judge(&moves(40.0)), OutageFinding::Ask);
        let found = (1..100).map(|tenths| outage.judge(&moves(40.0 + f64::from(tenths) / 10.0)));
        assert!(found.into_iter().all(|finding| finding == OutageFinding::Stirring));
        // All has arrived, at 48.9 s, and is not answered.
        let arrived = |now: f64| Sight { acknowledged: seconds(48.9), ..sight(now) };
        assert_eq!(outage.judge(&arrived(50.8)), OutageFinding::Stirring);
        assert_eq!(outage.judge(&arrived(51.0)), OutageFinding::Lost);
        let mut outage = stirring();
        let far = |now: f64| Sight { round_trip: seconds(1.0), ..acknowledged(now) };
        assert_eq!(outage.judge(&far(43.9)), OutageFinding::Stirring);
        assert_eq!(outage.judge(&far(44.0)), OutageFinding::Lost);
    }

    #[test]
    fn who_cannot_ask_leaves_that_to_the_next() {
        let busy = |now: f64| Sight { may_ask: false, ..sight(now) };
        let mut outage = Outage::default();
        assert_eq!(first(&mut outage, busy), None);
        assert_eq!(outage.judge(&sight(71.0)), OutageFinding::Ask);
        let mut outage = lost();
        assert_eq!(outage.judge(&Sight { may_ask: false, ..acknowledged(40.0) }), OutageFinding::Stirring);
        assert_eq!(outage.judge(&acknowledged(42.0)), OutageFinding::Lost);
    }

    #[test]
    fn connections_that_deliver_nothing_are_given_up_ever_later_and_never_late() {
        let mut outage = lost();
        for expected in [16.2, 20.2, 20.2] {
            outage.on_given_up();
            let (at, _) = first(&mut outage, in_vain).expect("it is lost");
            assert!((expected..expected + 0.3).contains(&at), "{at}");
        }
        outage.on_given_up();
        assert!(outage.is_on());
        outage.judge(&Sight { has_answered: true, ..sight(11.0) });
        assert!(!outage.is_on());
    }
}
