//! bbr's start, brought to its end. bbr looks for the rate of a path by sending almost three times as fast as it delivers, until
//! three round trips have brought no more. It counts only those in which the sender was never short of data; and who sends
//! replies is short of data whenever all that was asked for is in flight. So a full path would stay overfull, up to bbr's look
//! at the round trip ten seconds later. Who is paced below the rate that bbr found has data that wait: the start ends.

use std::time::Duration;

use super::SizeChange;
use crate::Sample;

/// A path is full when packets take so much longer than without a queue.
const FULL: f64 = 1.25;
/// What must be in flight at least. Below, waiting packets fill no queue, and bbr's figures are rough.
const FLIGHT_MIN: u64 = 128 << 10;
/// What part of the rate that bbr found is sent: little enough that data wait, and as much as possible, since bbr goes on
/// with what it sees then. What it found may be more than the path carries, so it is less with every second.
const PACE: f64 = 0.95;
const STEP: Duration = Duration::from_secs(1);
/// A path on which bbr finds so many times the rate since it is paced was not full: bbr's own bound for a rate that grows
/// (`bbr_full_bw_thresh`). Packets also take longer where a host is busy for a moment.
const GROWS: f64 = 1.25;
/// bbr sends so many times as fast as it found while it starts (`bbr_high_gain`, net/ipv4/tcp_bbr.c).
const GAIN: f64 = 2.89;
/// So many times what is paced: a thread that is woken late by ten milliseconds still finds data in the socket.
const CAREFULLY: f64 = 6.0;
/// A start ends within some ten round trips of this. One that did not is left alone for a while: its path changed.
const LONGEST: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_secs(10);

/// The start of one connection's sending.
#[derive(Debug, Clone, Copy, Default)]
pub struct Start {
    state: State,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// Paced by nobody but bbr.
    #[default]
    Free,
    /// Paced by us, since then, when bbr had found so much, and so fast since the last step.
    Paced { since: (Duration, u64), stepped: Duration, pace: u64 },
    /// It did not help: not tried again until then.
    Tried(Duration),
}

impl Start {
    /// The next sample.
    pub fn on_sample(&mut self, sample: &Sample, changes: &mut Vec<SizeChange>) {
        let (now, found) = (sample.at, sample.sending.starting);
        match (self.state, found) {
            (State::Free, Some(found)) if is_full(sample, found) => {
                self.pace((now, found), now, found, changes);
            }
            (State::Tried(until), _) if now >= until => self.state = State::Free,
            (State::Paced { .. }, None) => self.lift(State::Free, changes),
            (State::Paced { since: (_, before), .. }, Some(found)) if grew(before, found) => {
                self.lift(State::Free, changes);
            }
            (State::Paced { since, stepped, pace }, Some(_)) => {
                if now.saturating_sub(since.0) >= LONGEST {
                    self.lift(State::Tried(now + PAUSE), changes);
                } else if now.saturating_sub(stepped) >= STEP {
                    self.pace(since, now, pace, changes);
                }
            }
            _ => {}
        }
    }

    /// Paces it at a little less than that rate.
    fn pace(&mut self, since: (Duration, u64), now: Duration, rate: u64, changes: &mut Vec<SizeChange>) {
        let pace = (rate as f64 * PACE) as u64;
        self.state = State::Paced { since, stepped: now, pace };
        changes.push(SizeChange::Pace(Some(pace)));
    }

    /// For how fast a connection the socket must be kept full, in bytes per second; 0: no start is under way. While it is paced
    /// by us, no moment in which nothing waits may go by.
    pub fn rate(&self, sample: &Sample) -> f64 {
        let times = if matches!(self.state, State::Paced { .. }) { CAREFULLY } else { GAIN };
        sample.sending.starting.unwrap_or(0) as f64 * times
    }

    fn lift(&mut self, next: State, changes: &mut Vec<SizeChange>) {
        self.state = next;
        changes.push(SizeChange::Pace(None));
    }

    /// Whether the next round trips may change something: bbr is starting, and with more than small replies.
    pub fn is_under_way(sample: &Sample) -> bool {
        sample.sending.starting.is_some() && sample.sending.flight >= FLIGHT_MIN
    }
}

fn grew(before: u64, found: u64) -> bool {
    found as f64 >= before as f64 * GROWS
}

/// Whether more is in flight than a path of that rate holds, so that it waits in a queue.
fn is_full(sample: &Sample, found: u64) -> bool {
    let (rtt, base) = (sample.path.rtt.as_secs_f64(), sample.base_rtt().as_secs_f64());
    let flight = sample.sending.flight;
    // Before bbr has found anything there is no rate to pace by.
    found > 0 && rtt > FULL * base && flight >= FLIGHT_MIN && flight as f64 > found as f64 * base
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PathState, Sending};

    const FOUND: u64 = 100_000_000;

    fn sample(millisecond: u64, rtt: u64, flight: u64, starting: Option<u64>) -> Sample {
        let milliseconds = Duration::from_millis;
        Sample {
            at: milliseconds(millisecond),
            sending: Sending { flight, starting, ..Sending::default() },
            path: PathState { rtt: milliseconds(rtt), min_rtt: milliseconds(100), segment: 1448 },
            ..Sample::default()
        }
    }

    fn changes(start: &mut Start, sample: &Sample) -> Vec<SizeChange> {
        let mut changes = Vec::new();
        start.on_sample(sample, &mut changes);
        changes
    }

    #[test]
    fn a_start_that_has_filled_the_path_is_paced_until_it_is_over() {
        let mut start = Start::default();
        assert_eq!(changes(&mut start, &sample(0, 101, 5_000_000, Some(FOUND))), [], "the path is not full");
        assert_eq!(changes(&mut start, &sample(100, 200, 20_000_000, None)), [], "bbr is under way");
        let full = sample(200, 200, 20_000_000, Some(FOUND));
        assert_eq!(changes(&mut start, &full), [SizeChange::Pace(Some(95_000_000))]);
        assert_eq!((Start::default().rate(&full), start.rate(&full)), (2.89e8, 6e8));
        assert!(Start::is_under_way(&full));
        assert_eq!(changes(&mut start, &sample(300, 200, 20_000_000, Some(FOUND))), [], "once");
        assert_eq!(
            changes(&mut start, &sample(1200, 200, 20_000_000, Some(FOUND))),
            [SizeChange::Pace(Some(90_250_000))],
            "bbr had found too much"
        );
        assert_eq!(changes(&mut start, &sample(1300, 150, 15_000_000, None)), [SizeChange::Pace(None)]);
        assert_eq!(changes(&mut start, &sample(1400, 150, 15_000_000, None)), []);
    }

    #[test]
    fn a_path_that_carries_more_than_it_seemed_to_is_not_paced() {
        let mut start = Start::default();
        let found = |millisecond, rate| sample(millisecond, 200, 50_000_000, Some(rate));
        assert_eq!(changes(&mut start, &found(0, FOUND)), [SizeChange::Pace(Some(95_000_000))]);
        assert_eq!(changes(&mut start, &found(100, 124_000_000)), [], "what was in flight came");
        assert_eq!(changes(&mut start, &found(200, 125_000_000)), [SizeChange::Pace(None)]);
        assert_eq!(changes(&mut start, &found(300, 200_000_000)), [SizeChange::Pace(Some(190_000_000))]);
    }

    #[test]
    fn small_replies_that_take_long_are_not_paced() {
        let mut start = Start::default();
        assert_eq!(changes(&mut start, &sample(0, 300, 20_000, Some(10_000))), []);
        assert!(!Start::is_under_way(&sample(0, 300, 20_000, Some(10_000))));
        assert_eq!(changes(&mut start, &sample(0, 300, 20_000_000, Some(0))), [], "nothing was found yet");
        // Long round trips without more in flight than the path holds: somebody else's queue.
        assert_eq!(changes(&mut start, &sample(1, 200, 9_000_000, Some(FOUND))), []);
        assert_eq!(changes(&mut start, &sample(2, 200, 10_000_000, Some(FOUND))), [], "as much as it holds");
        assert_eq!(changes(&mut start, &sample(3, 125, 20_000_000, Some(FOUND))), [], "hardly a queue");
        assert_eq!(changes(&mut start, &sample(4, 126, 20_000_000, Some(FOUND))).len(), 1);
    }

    #[test]
    fn a_start_that_goes_on_anyway_is_left_alone_for_a_while() {
        let mut start = Start::default();
        let full = |millisecond| sample(millisecond, 200, 20_000_000, Some(FOUND));
        assert_eq!(changes(&mut start, &full(0)).len(), 1);
        for second in 1..5 {
            assert_eq!(changes(&mut start, &full(second * 1_000)).len(), 1);
        }
        assert_eq!(changes(&mut start, &full(4_900)), []);
        assert_eq!(changes(&mut start, &full(5_000)), [SizeChange::Pace(None)]);
        assert_eq!(changes(&mut start, &full(14_900)), []);
        assert_eq!(changes(&mut start, &full(15_000)), []);
        assert_eq!(changes(&mut start, &full(15_100)), [SizeChange::Pace(Some(95_000_000))]);
    }
}
