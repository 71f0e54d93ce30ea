//! Where the time of a connection went: seconds per verdict, and how often its buffers were at an end. Sums only, so that
//! whoever looks can take differences.

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
    /// The congestion window became smaller by a quarter or more.
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
    /// Adds an interval and the verdicts on it.
    pub fn add(&mut self, interval: &Interval<'_>, judgement: &Judgement) {
        *self.sending.entry(judgement.sending).or_default() += interval.length();
        *self.receiving.entry(judgement.receiving).or_default() += interval.length();
        self.events.look(interval.before, interval.after);
    }

    /// The sums of two connections.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in [(&mut self.sending, &other.sending), (&mut self.receiving, &other.receiving)] {
            for (verdict, time) in theirs {
                *mine.entry(*verdict).or_default() += *time;
            }
        }
        self.events.add(&other.events);
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

    fn add(&mut self, other: &Self) {
        self.send_buffer_full += other.send_buffer_full;
        self.send_buffer_empty += other.send_buffer_empty;
        self.receive_buffer_full += other.receive_buffer_full;
        self.receive_buffer_empty += other.receive_buffer_empty;
        self.window_cut += other.window_cut;
        self.grown += other.grown;
        self.taken_back += other.taken_back;
    }
}
