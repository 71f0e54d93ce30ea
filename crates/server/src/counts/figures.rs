//! Counters added up: plain numbers, and what follows from them.

use std::time::Duration;

use super::buckets::{BUCKETS, upper_bound};
use super::outcome::{ERRORS, error_name};

/// What was counted of some calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Figures {
    /// Calls that were run or answered from memory.
    pub calls: u64,
    /// Of these, repetitions that were answered from memory.
    pub replayed: u64,
    /// Of these, those without an answer: repetitions of a call that still ran, for the most part.
    pub unanswered: u64,
    /// Bytes of calls.
    pub received: u64,
    /// Bytes of replies.
    pub sent: u64,
    /// Nanoseconds within the file system.
    pub storage: u64,
    /// From the call being complete to its reply being handed to the socket.
    pub latency: Latency,
    /// By their places.
    pub errors: [u64; ERRORS],
}

/// How long calls took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Latency {
    /// Nanoseconds of all.
    pub sum: u64,
    /// Calls in each bucket.
    pub buckets: [u64; BUCKETS],
}

impl Default for Latency {
    fn default() -> Self {
        Self { sum: 0, buckets: [0; BUCKETS] }
    }
}

impl Figures {
    /// The errors that there were, by name.
    pub fn named_errors(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let named = self.errors.iter().enumerate().map(|(place, count)| (error_name(place), *count));
        named.filter(|(_, count)| *count > 0)
    }

    /// Both together.
    pub fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.replayed += other.replayed;
        self.unanswered += other.unanswered;
        self.received += other.received;
        self.sent += other.sent;
        self.storage += other.storage;
        self.latency.sum += other.latency.sum;
        self.latency.buckets.iter_mut().zip(other.latency.buckets).for_each(|(sum, count)| *sum += count);
        self.errors.iter_mut().zip(other.errors).for_each(|(sum, count)| *sum += count);
    }
}

impl Latency {
    /// Replies that were handed to the socket.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// What this part of the calls (0 to 1) stayed below, within a bucket's width; none of nothing. Within a bucket, calls are taken
    /// to be spread evenly.
    pub fn quantile(&self, part: f64) -> Option<Duration> {
        let count = self.count();
        let mut left = (part * count as f64).ceil().max(1.0) as u64;
        let mut start = 0;
        for (place, calls) in self.buckets.iter().enumerate() {
            let end = upper_bound(place).unwrap_or(start * 2);
            if left <= *calls {
                let within = (end - start) as f64 * left as f64 / *calls as f64;
                return Some(Duration::from_nanos(start + within as u64));
            }
            left -= calls;
            start = end;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::cell::{CountCell, Ran};
    use super::super::outcome::Outcome;
    use super::*;

    #[test]
    fn quantiles_are_right_within_an_eighth() {
        let cell = CountCell::new();
        (1..=10_000u64).for_each(|microseconds| cell.handed(microseconds * 1000, 1));
        let mut sum = Figures::default();
        cell.add_to(&mut sum);
        for (part, expected) in [(0.0, 1.0), (0.5, 5000.0), (0.99, 9900.0), (1.0, 10_000.0)] {
            let reported = sum.latency.quantile(part).expect("there are some").as_secs_f64() * 1e6;
            assert!((reported - expected).abs() / expected <= 0.125, "{part}: {reported}, not {expected}");
        }
        assert_eq!(sum.latency.count(), 10_000);
        assert_eq!(Latency::default().quantile(0.5), None);
    }

    #[test]
    fn figures_add_up() {
        let cell = CountCell::new();
        let ran = Ran { outcome: Some(Outcome::Status(2)), received: 100, sent: 10, storage: 7 };
        cell.ran(&ran);
        cell.ran(&Ran { outcome: Some(Outcome::Replayed), ..ran });
        cell.ran(&Ran { outcome: None, sent: 0, ..ran });
        cell.handed(5000, 1);
        let mut one = Figures::default();
        cell.add_to(&mut one);
        let mut two = one.clone();
        two.add(&one);
        let mut again = Figures::default();
        (0..2).for_each(|_| cell.add_to(&mut again));
        assert_eq!(two, again);
        assert_eq!((two.calls, two.replayed, two.unanswered, two.received, two.sent), (6, 2, 2, 600, 40));
        assert_eq!((two.storage, two.latency.sum, two.latency.count()), (42, 10_000, 2));
        assert_eq!(two.named_errors().collect::<Vec<_>>(), [("NOENT", 2)]);
    }
}
