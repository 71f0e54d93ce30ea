//! How long to wait before the next attempt to connect: longer each time, bounded, and not in step with others.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// The first wait. A server that restarts is back within a second as a rule.
const FIRST: Duration = Duration::from_millis(100);
/// The longest: so late at most is it noticed that a server is back.
const LONGEST: Duration = Duration::from_secs(3);

/// From the beginning of one attempt to that of the next.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    failures: u32,
}

impl Backoff {
    /// An attempt went well.
    pub(super) fn succeeded(&mut self) {
        self.failures = 0;
    }

    /// An attempt failed: how long after it began the next one does, a quarter more or less by chance, so that the clients of a server that
    /// comes back do not arrive all at once.
    pub(super) fn failed(&mut self) -> Duration {
        let base = FIRST.saturating_mul(1 << self.failures.min(10)).min(LONGEST);
        self.failures += 1;
        let chance = RandomState::new().hash_one(self.failures) % 1024;
        base.mul_f64(0.75 + chance as f64 / 2048.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_bound_and_start_anew_after_success() {
        let mut backoff = Backoff::default();
        let waits: Vec<Duration> = (0..20).map(|_| backoff.failed()).collect();
        assert!(waits[0] >= FIRST * 3 / 4 && waits[0] <= FIRST * 5 / 4, "{waits:?}");
        assert!(waits[19] >= LONGEST * 3 / 4 && waits[19] <= LONGEST * 5 / 4, "{waits:?}");
        backoff.succeeded();
        assert!(backoff.failed() <= FIRST * 5 / 4);
    }
}
