//! Where the time of a connection went: seconds per verdict, how often its buffers were at an end, what it moved and lost. Sums
//! only, so that readers can take differences.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::verdict::{Judgement, Verdict};
use crate::{Interval, Sample};

/// Sums over the life of a connection, or of several.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Account {
    /// Time under each verdict on replies.
    pub sending: BTreeMap<Verdict, Duration>,
    /// Time under each verdict on calls.
    pub receiving: BTreeMap<Verdict, Duration>,
    /// How often things happened.
    pub events: Events,
    /// How much of what went where.
    pub moved: Moved,
}

/// Bytes, but for what says otherwise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moved {
    /// Sent, with what was sent again.
    pub sent: u64,
    /// Received in order.
    pub received: u64,
    /// Sent again.
    pub retransmitted: u64,
    /// Sent again though the peer had it.
    pub spurious: u64,
    /// How often packets of ours were seen to overtake others.
    pub reorderings: u64,
    /// Segments of the peer's that came before earlier ones: lost on the way, or overtaken.
    pub out_of_order: u64,
}

/// How often things happened; samples are counted, not moments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Events {
    /// The send buffer was full to where the socket takes no more.
    pub send_buffer_full: u64,
    /// It was empty though replies waited.
    pub send_buffer_empty: u64,
    /// Unread bytes filled the window that we offer.
    pub receive_buffer_full: u64,
    /// Nothing was unread.
    pub receive_buffer_empty: u64,
    /// The congestion window became smaller by more than a quarter.
    pub window_cut: u64,
    /// We made a buffer or a window larger.
    pub grown: u64,
    /// We made one smaller because memory was short.
    pub taken_back: u64,
}

/// The socket takes no more once so much of the buffer is used (`sk_stream_is_writeable`).
const FULL: f64 = 2.0 / 3.0;
/// A congestion window that shrinks to this part was cut.
const CUT: f64 = 0.75;

impl Account {
    /// Adds an interval and the verdicts on it, of which `time` was not accounted for yet.
    pub fn add(&mut self, time: Duration, interval: &Interval<'_>, judgement: &Judgement) {
        *self.sending.entry(judgement.sending).or_default() += time;
        *self.receiving.entry(judgement.receiving).or_default() += time;
        self.events.look(interval.before, interval.after);
        self.moved.look(interval);
    }

    /// Adds time in which nothing happened.
    pub fn rest(&mut self, time: Duration) {
        *self.sending.entry(Verdict::Idle).or_default() += time;
        *self.receiving.entry(Verdict::Idle).or_default() += time;
    }

    /// The sums of two connections.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in [(&mut self.sending, &other.sending), (&mut self.receiving, &other.receiving)] {
            for (verdict, time) in theirs {
                *mine.entry(*verdict).or_default() += *time;
            }
        }
        self.events.each(&other.events, add);
        self.moved.each(&other.moved, add);
    }

    /// What was added since it was `earlier`.
    pub fn minus(&self, earlier: &Self) -> Self {
        let mut since = self.clone();
        for (mine, theirs) in
            [(&mut since.sending, &earlier.sending), (&mut since.receiving, &earlier.receiving)]
        {
            for (verdict, time) in theirs {
                let mine = mine.entry(*verdict).or_default();
                *mine = mine.saturating_sub(*time);
            }
            mine.retain(|_, time| !time.is_zero());
        }
        since.events.each(&earlier.events, |mine, earlier| *mine = mine.saturating_sub(earlier));
        since.moved.each(&earlier.moved, |mine, earlier| *mine = mine.saturating_sub(earlier));
        since
    }
}

/// Sums stay where they are once they can grow no more: a kernel's own sums may jump.
fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

impl Moved {
    /// Bytes sent, those that were sent again counted once.
    pub fn sent_once(&self) -> u64 {
        self.sent.saturating_sub(self.retransmitted)
    }

    /// What was moved in an interval.
    pub(crate) fn look(&mut self, interval: &Interval<'_>) {
        let grown = Self {
            sent: interval.grown(|sample| sample.sending.sent),
            received: interval.grown(|sample| sample.receiving.received),
            retransmitted: interval.grown(|sample| sample.sending.retransmitted),
            spurious: interval.grown(|sample| sample.sending.spurious),
            reorderings: interval.grown(|sample| sample.sending.reorderings),
            out_of_order: interval.grown(|sample| sample.receiving.out_of_order.unwrap_or(0)),
        };
        self.each(&grown, add);
    }

    fn each(&mut self, other: &Self, change: impl Fn(&mut u64, u64)) {
        change(&mut self.sent, other.sent);
        change(&mut self.received, other.received);
        change(&mut self.retransmitted, other.retransmitted);
        change(&mut self.spurious, other.spurious);
        change(&mut self.reorderings, other.reorderings);
        change(&mut self.out_of_order, other.out_of_order);
    }
}

impl Events {
    fn look(&mut self, before: &Sample, after: &Sample) {
        let (sending, receiving) = (&after.sending, &after.receiving);
        let full = sending.queued as f64 >= FULL * sending.buffer as f64;
        let window = receiving.window.unwrap_or(receiving.buffer);
        let cut = (sending.congestion_window as f64) < CUT * before.sending.congestion_window as f64;
        self.send_buffer_full += u64::from(sending.buffer > 0 && full);
        self.send_buffer_empty += u64::from(sending.queued == 0 && after.gauges.replies_waiting > 0);
        self.receive_buffer_full += u64::from(window > 0 && receiving.unread >= window);
        self.receive_buffer_empty += u64::from(receiving.unread == 0);
        self.window_cut += u64::from(cut);
    }

    fn each(&mut self, other: &Self, change: impl Fn(&mut u64, u64)) {
        change(&mut self.send_buffer_full, other.send_buffer_full);
        change(&mut self.send_buffer_empty, other.send_buffer_empty);
        change(&mut self.receive_buffer_full, other.receive_buffer_full);
        change(&mut self.receive_buffer_empty, other.receive_buffer_empty);
        change(&mut self.window_cut, other.window_cut);
        change(&mut self.grown, other.grown);
        change(&mut self.taken_back, other.taken_back);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Gauges, Receiving, Sending};

    fn events(before: &Sample, after: &Sample) -> Events {
        let mut events = Events::default();
        events.look(before, after);
        events
    }

    #[test]
    fn each_sum_takes_the_growth_of_its_own_figure() {
        let sample = |one: u64| Sample {
            sending: Sending {
                sent: one,
                retransmitted: 3 * one,
                spurious: 4 * one,
                reorderings: 5 * one,
                ..Sending::default()
            },
            receiving: Receiving { received: 2 * one, out_of_order: Some(6 * one), ..Receiving::default() },
            ..Sample::default()
        };
        let mut moved = Moved::default();
        for (before, after) in [(1, 2), (2, 12)] {
            moved.look(&Interval { before: &sample(before), after: &sample(after) });
        }
        let wanted = Moved {
            sent: 11,
            received: 22,
            retransmitted: 33,
            spurious: 44,
            reorderings: 55,
            out_of_order: 66,
        };
        assert_eq!(moved, wanted);
    }

    #[test]
    fn each_event_is_counted_where_it_begins_to_be_one() {
        let send = |buffer, queued, replies_waiting| Sample {
            sending: Sending { buffer, queued, ..Sending::default() },
            // Neither full nor empty.
            receiving: Receiving { buffer: 2, unread: 1, ..Receiving::default() },
            gauges: Gauges { replies_waiting, ..Gauges::default() },
            ..Sample::default()
        };
        let receive = |buffer, window, unread| Sample {
            receiving: Receiving { buffer, window, unread, ..Receiving::default() },
            ..Sample::default()
        };
        let cases = [
            ("two thirds are full", send(300, 200, 0), Events { send_buffer_full: 1, ..Events::default() }),
            ("less is not", send(300, 199, 0), Events::default()),
            ("a socket without a buffer is not full", send(0, 0, 0), Events::default()),
            ("replies wait", send(300, 0, 1), Events { send_buffer_empty: 1, ..Events::default() }),
            ("none wait", send(300, 0, 0), Events::default()),
            ("some are in the socket", send(300, 1, 1), Events::default()),
            (
                "the window is filled",
                receive(9, Some(5), 5),
                Events { receive_buffer_full: 1, ..Events::default() },
            ),
            ("nearly", receive(9, Some(5), 4), Events::default()),
            (
                "where no window is known, it is the buffer",
                receive(9, None, 9),
                Events { receive_buffer_full: 1, ..Events::default() },
            ),
            ("nearly that", receive(9, None, 8), Events::default()),
            (
                "without a window there is none to fill",
                receive(9, Some(0), 0),
                Events { receive_buffer_empty: 1, ..Events::default() },
            ),
        ];
        for (why, after, wanted) in cases {
            assert_eq!(events(&Sample::default(), &after), wanted, "{why}");
        }
    }

    #[test]
    fn a_congestion_window_is_cut_by_more_than_a_quarter_at_once() {
        let window = |congestion_window| Sample {
            sending: Sending { congestion_window, ..Sending::default() },
            ..Sample::default()
        };
        let cut = |from, to| events(&window(from), &window(to)).window_cut;
        assert_eq!([cut(100, 74), cut(100, 75), cut(100, 200), cut(0, 0)], [1, 0, 0, 0]);
        let mut events = Events::default();
        for to in [10, 70, 80] {
            events.look(&window(100), &window(to));
        }
        assert_eq!(events.window_cut, 2);
    }
}
