//! How far a call may be behind the latest one: servers drop calls that they see too late (RFC 2203 5.3.3.1).

use std::collections::BTreeMap;
use std::time::Duration;

/// A server has seen a call that was made so long ago, even if it has not answered it: others need not wait for that.
const SEEN: Duration = Duration::from_secs(1);

/// The calls that a server may not have seen yet, by the order in which they went out.
#[derive(Debug, Default)]
pub(super) struct CallSpan {
    /// Without it, nothing is counted.
    most: Option<u64>,
    next: u64,
    unseen: BTreeMap<u64, Duration>,
}

impl CallSpan {
    /// From the first unseen call to the last one there are at most so many from now on. A larger number than before does not count.
    pub(super) fn limit(&mut self, most: usize) {
        let most = most.max(1) as u64;
        self.most = Some(self.most.map_or(most, |before| before.min(most)));
    }

    /// Whether there is a limit.
    pub(super) fn is_limited(&self) -> bool {
        self.most.is_some()
    }

    /// Whether another call may go out.
    pub(super) fn has_room(&self) -> bool {
        let first = self.unseen.first_key_value();
        self.most.is_none_or(|most| first.is_none_or(|(first, _)| self.next - first < most))
    }

    /// A call goes out; its number.
    pub(super) fn enter(&mut self, now: Duration) -> u64 {
        if self.most.is_some() {
            self.unseen.insert(self.next, now);
        }
        self.next += 1;
        self.next - 1
    }

    /// A call is answered, or over.
    pub(super) fn leave(&mut self, number: u64) {
        self.unseen.remove(&number);
    }

    /// It is so late now.
    pub(super) fn on_time(&mut self, now: Duration) {
        while let Some(first) = self.unseen.first_entry()
            && now.saturating_sub(*first.get()) >= SEEN
        {
            first.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_wait_for_one_that_is_far_behind_but_not_for_ever() {
        let mut span = CallSpan::default();
        for _ in 0..100 {
            span.enter(Duration::ZERO);
        }
        assert!(span.has_room() && !span.is_limited());
        span.limit(3);
        span.limit(4);
        let numbers: Vec<u64> = (0..3).map(|_| span.enter(Duration::ZERO)).collect();
        assert!(!span.has_room());
        // Answers to later calls make no room.
        span.leave(numbers[1]);
        assert!(!span.has_room());
        span.leave(numbers[0]);
        assert!(span.has_room());
        span.enter(SEEN / 2);
        span.enter(SEEN / 2);
        assert!(!span.has_room());
        span.on_time(SEEN);
        assert!(span.has_room());
    }
}
