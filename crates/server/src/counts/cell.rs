//! The counters of one procedure of one export, as one worker counts them.

use std::array;

use super::buckets::{BUCKETS, bucket};
use super::counter::Counter;
use super::figures::Figures;
use super::outcome::{ERRORS, Outcome};

/// All of them. By itself in its cache lines: each worker changes its own with every call.
#[repr(align(128))]
pub struct CountCell {
    calls: Counter,
    replayed: Counter,
    unanswered: Counter,
    received: Counter,
    sent: Counter,
    /// Nanoseconds.
    storage: Counter,
    /// Nanoseconds of replies that were handed to the socket.
    latency: Counter,
    buckets: [Counter; BUCKETS],
    errors: [Counter; ERRORS],
}

/// A call that was run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ran {
    /// How it ended; `None`: without an answer.
    pub outcome: Option<Outcome>,
    /// Bytes of the call.
    pub received: u64,
    /// Bytes of the reply.
    pub sent: u64,
    /// Nanoseconds within the file system.
    pub storage: u64,
}

impl CountCell {
    /// Nothing counted.
    pub fn new() -> Self {
        Self {
            calls: Counter::default(),
            replayed: Counter::default(),
            unanswered: Counter::default(),
            received: Counter::default(),
            sent: Counter::default(),
            storage: Counter::default(),
            latency: Counter::default(),
            buckets: array::from_fn(|_| Counter::default()),
            errors: array::from_fn(|_| Counter::default()),
        }
    }

    /// A call was run, and its reply, if there is one, stands ready.
    #[inline]
    pub fn ran(&self, ran: &Ran) {
        self.calls.add(1);
        self.received.add(ran.received);
        self.sent.add(ran.sent);
        if ran.storage > 0 {
            self.storage.add(ran.storage);
        }
        match ran.outcome {
            // Most, and so before the others.
            Some(Outcome::Well) => {}
            None => self.unanswered.add(1),
            Some(Outcome::Replayed) => self.replayed.add(1),
            Some(outcome) => {
                if let Some(error) = outcome.error() {
                    self.errors[error].add(1);
                }
            }
        }
    }

    /// The replies to so many calls were handed to the socket, each so long after its call was complete.
    pub fn handed(&self, nanoseconds: u64, count: u64) {
        self.latency.add(nanoseconds * count);
        self.buckets[bucket(nanoseconds)].add(count);
    }

    /// Time went by in the file system after the call had run.
    pub fn moved(&self, nanoseconds: u64) {
        self.storage.add(nanoseconds);
    }

    /// Adds what was counted to a sum.
    pub fn add_to(&self, sum: &mut Figures) {
        sum.calls += self.calls.get();
        sum.replayed += self.replayed.get();
        sum.unanswered += self.unanswered.get();
        sum.received += self.received.get();
        sum.sent += self.sent.get();
        sum.storage += self.storage.get();
        sum.latency.sum += self.latency.get();
        sum.latency.buckets.iter_mut().zip(&self.buckets).for_each(|(sum, counter)| *sum += counter.get());
        sum.errors.iter_mut().zip(&self.errors).for_each(|(sum, counter)| *sum += counter.get());
    }
}
