//! A token bucket in one word: the moment at which all that was taken from it is paid for. Knows no clock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How much comes in each second; what is not taken is kept for a time.
#[derive(Debug, Default)]
pub struct TokenBucket {
    /// Nanoseconds of the caller's clock.
    paid_at: AtomicU64,
}

impl TokenBucket {
    /// Takes an amount at this moment, in nanoseconds; says how long it takes until that is paid for. What is taken is taken: the next
    /// one waits behind it. `per_second` is not 0; the bucket holds what comes in within `burst`.
    pub fn take(&self, now: u64, amount: u64, per_second: u64, burst: Duration) -> Duration {
        let cost = u128::from(amount) * 1_000_000_000 / u128::from(per_second.max(1));
        let cost = u64::try_from(cost).unwrap_or(u64::MAX);
        let earliest = now.saturating_sub(nanoseconds(burst));
        let paid_after = |paid: u64| paid.max(earliest).saturating_add(cost);
        let before = self
            .paid_at
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |paid| Some(paid_after(paid)))
            .unwrap_or_default();
        Duration::from_nanos(paid_after(before).saturating_sub(now))
    }

    /// Whether it is full: as one from which nothing was ever taken.
    pub fn is_full(&self, now: u64, burst: Duration) -> bool {
        self.paid_at.load(Ordering::Relaxed) <= now.saturating_sub(nanoseconds(burst))
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;
    const BURST: Duration = Duration::from_millis(500);

    #[test]
    fn a_burst_is_free_and_what_is_beyond_waits_its_time() {
        let bucket = TokenBucket::default();
        let now = 100 * SECOND;
        let wait = |at, amount| bucket.take(at, amount, 1000, BURST);
        assert_eq!(wait(now, 500), Duration::ZERO, "what came in within half a second");
        assert_eq!(wait(now, 100), Duration::from_millis(100));
        assert_eq!(wait(now, 100), Duration::from_millis(200), "behind the other");
        assert_eq!(wait(now + SECOND / 10, 0), Duration::from_millis(100));
        assert!(!bucket.is_full(now + SECOND / 2, BURST));
        assert!(bucket.is_full(now + 7 * SECOND / 10, BURST));
        assert_eq!(wait(now + 60 * SECOND, 501), Duration::from_millis(1), "no more is kept than a burst");
    }

    #[test]
    fn in_the_long_run_the_rate_is_exact_whatever_the_amounts() {
        const SEED: u64 = 0x5eed;
        let mut random = howdah_random::Random::new(SEED);
        let bucket = TokenBucket::default();
        let (start, mut now, mut moved) = (10 * SECOND, 10 * SECOND, 0);
        while now < start + 100 * SECOND {
            let amount = random.below(1 << 20);
            now += bucket.take(now, amount, 50_000_000, BURST).as_nanos() as u64;
            moved += amount;
        }
        let expected = 50_000_000 * 100 + 25_000_000;
        let error = moved.abs_diff(expected);
        assert!(error < expected / 1000, "seed {SEED:#x}: {moved} instead of {expected}");
    }

    #[test]
    fn the_largest_amounts_do_not_wrap() {
        let bucket = TokenBucket::default();
        assert!(bucket.take(SECOND, u64::MAX, 1, Duration::ZERO) > Duration::from_secs(1 << 30));
        assert!(bucket.take(SECOND, u64::MAX, 1, Duration::MAX) > Duration::from_secs(1 << 30));
    }
}
