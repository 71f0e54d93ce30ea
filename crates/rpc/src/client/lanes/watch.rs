//! Judges a lane that is connected: whether it still delivers, or should be made anew.

use std::time::Duration;

/// How long a lane must be quiet at least before it counts as stuck, whatever is usual on it: a hiccup of the network is
/// mended by then (three resends of TCP at its shortest timer).
const STUCK_MIN: Duration = Duration::from_secs(2);
/// How many times as long as a small call usually takes it must be quiet to count as stuck.
const STUCK_USUAL: u32 = 8;
/// How many times the patience with a call that is never answered doubles, each time it was sent again.
const DOUBLINGS_MAX: u32 = 3;

/// How long a server may say nothing while calls wait, as a rule: as long as the kernel's client waits (timeo=600), since a COMMIT on
/// slow storage is not a dead server.
pub const SILENCE: Duration = Duration::from_secs(60);

/// What is known of a lane.
#[derive(Debug, Clone, Copy)]
pub struct WatchFacts {
    /// The time.
    pub now: Duration,
    /// When something was last received on it.
    pub heard: Duration,
    /// How long ago its oldest call was sent, and how often.
    pub waiting: Option<(Duration, u32)>,
    /// How long a small call takes at most, as a rule.
    pub usual: Duration,
    /// When something was last received on another lane, if there is another one that is connected.
    pub others_heard: Option<Duration>,
    /// How long a server may say nothing while calls wait.
    pub silence: Duration,
}

/// What to do with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing.
    Fine,
    /// Asking for a sign of life, here and on the other lanes.
    Ask,
    /// Others deliver, this one does not.
    Stuck,
    /// The server says nothing at all, or never answers one of the calls.
    Silent,
}

/// Watches one connection.
#[derive(Debug, Default)]
pub struct Watch {
    asked: Option<Duration>,
}

impl Watch {
    /// Judges.
    pub fn judge(&mut self, facts: &WatchFacts) -> Verdict {
        let WatchFacts { now, heard, waiting, usual, others_heard, silence } = *facts;
        let Some((waited, sends)) = waiting else {
            self.asked = None;
            return Verdict::Fine;
        };
        let quiet = now.saturating_sub(heard);
        let never = silence * (1 << sends.saturating_sub(1).min(DOUBLINGS_MAX));
        if waited >= never || waited >= silence && quiet >= silence {
            return Verdict::Silent;
        }
        let stuck = STUCK_MIN.max(usual * STUCK_USUAL);
        let Some(others_heard) = others_heard else { return Verdict::Fine };
        if quiet < stuck / 2 || waited < stuck / 2 {
            self.asked = None;
            return Verdict::Fine;
        }
        match self.asked {
            None => {
                self.asked = Some(now);
                Verdict::Ask
            }
            Some(asked) if now.saturating_sub(asked) >= stuck && others_heard > asked => Verdict::Stuck,
            Some(asked) if now.saturating_sub(asked) >= 2 * stuck => {
                // Nobody answered: perhaps somebody does now.
                self.asked = Some(now);
                Verdict::Ask
            }
            Some(_) => Verdict::Fine,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::REPLY_AGE;

    const SECOND: Duration = Duration::from_secs(1);

    fn facts(now: u32, heard: u32, sent: Option<u32>, others_heard: Option<u32>) -> WatchFacts {
        WatchFacts {
            now: now * SECOND,
            heard: heard * SECOND,
            waiting: sent.map(|sent| ((now - sent) * SECOND, 1)),
            usual: SECOND / 100,
            others_heard: others_heard.map(|heard| heard * SECOND),
            silence: 60 * SECOND,
        }
    }

    #[test]
    fn our_server_knows_an_answer_for_longer_than_we_wait_before_we_ask_again() {
        let longest = SILENCE * (1 << DOUBLINGS_MAX);
        assert!(longest < REPLY_AGE, "{longest:?}");
    }

    #[test]
    fn a_lane_is_stuck_when_asked_in_vain_while_another_answers() {
        let mut watch = Watch::default();
        assert_eq!(watch.judge(&facts(10, 0, None, Some(0))), Verdict::Fine);
        assert_eq!(watch.judge(&facts(11, 0, Some(10), Some(0))), Verdict::Ask);
        assert_eq!(watch.judge(&facts(12, 0, Some(10), Some(11))), Verdict::Fine);
        assert_eq!(watch.judge(&facts(13, 0, Some(10), Some(11))), Verdict::Fine, "nobody answers since");
        assert_eq!(watch.judge(&facts(13, 0, Some(10), Some(12))), Verdict::Stuck);
        let mut watch = Watch::default();
        assert_eq!(watch.judge(&facts(11, 0, Some(10), Some(0))), Verdict::Ask);
        assert_eq!(watch.judge(&facts(15, 0, Some(10), Some(0))), Verdict::Ask, "again");
    }

    #[test]
    fn a_slow_call_is_no_stuck_lane_if_the_question_is_answered() {
        let mut watch = Watch::default();
        assert_eq!(watch.judge(&facts(12, 0, Some(10), Some(0))), Verdict::Ask);
        assert_eq!(watch.judge(&facts(20, 20, Some(10), Some(20))), Verdict::Fine);
        assert_eq!(watch.judge(&facts(22, 20, Some(10), Some(21))), Verdict::Ask, "again, later");
    }

    #[test]
    fn a_lone_lane_is_made_anew_after_long_silence_only() {
        let mut watch = Watch::default();
        assert_eq!(watch.judge(&facts(69, 9, Some(10), None)), Verdict::Fine);
        assert_eq!(watch.judge(&facts(70, 9, Some(10), None)), Verdict::Silent);
        assert_eq!(
            watch.judge(&facts(70, 70, Some(10), None)),
            Verdict::Silent,
            "that call is never answered"
        );
        let again = WatchFacts { waiting: Some((70 * SECOND, 2)), ..facts(80, 79, Some(10), None) };
        assert_eq!(watch.judge(&again), Verdict::Fine, "it was sent twice: twice the patience");
    }
}
