//! A rate cap: says when bytes may be on their way. Pure: the time is an argument.

use std::time::Duration;

/// How much may be caught up after a pause: small, so that the rate is smooth, and enough to outlast a late wake-up.
const CATCH_UP: Duration = Duration::from_millis(50);

/// A token bucket of bytes, kept as the time at which all that was taken so far is due.
#[derive(Debug, Clone)]
pub struct Bucket {
    bytes_per_second: u64,
    due: Duration,
    held: Duration,
    /// Bytes that were waited for, and given back.
    returned: u64,
}

impl Bucket {
    /// At most so many bytes per second (at least 1).
    pub fn new(bytes_per_second: u64) -> Self {
        Self {
            bytes_per_second: bytes_per_second.max(1),
            due: Duration::ZERO,
            held: Duration::ZERO,
            returned: 0,
        }
    }

    /// Takes `bytes` at `now` (since any fixed moment) and says how long to wait before they are done with.
    pub fn take(&mut self, bytes: u64, now: Duration) -> Duration {
        let returned = self.returned.min(bytes);
        self.returned -= returned;
        let nanoseconds = u128::from(bytes - returned) * 1_000_000_000 / u128::from(self.bytes_per_second);
        let cost = Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX));
        let before = self.due.max(now);
        self.due = self.due.max(now.saturating_sub(CATCH_UP)).saturating_add(cost);
        self.held += self.due.saturating_sub(before);
        self.due.saturating_sub(now)
    }

    /// Gives back what was taken and waited for, and is not on its way after all: the next take that many without a wait.
    pub fn give_back(&mut self, bytes: u64) {
        self.returned += bytes;
    }

    /// For how long somebody had to wait.
    pub fn held(&self) -> Duration {
        self.held
    }

    /// Bytes per transfer that keep the rate smooth: at most a tenth of a second's worth, if that is not tiny.
    pub fn smooth_block(bytes_per_second: u64, block: usize) -> usize {
        let tenth = usize::try_from(bytes_per_second / 10).unwrap_or(usize::MAX);
        // Whole pages, so that holes stay aligned.
        (tenth / SMALLEST_BLOCK * SMALLEST_BLOCK).clamp(SMALLEST_BLOCK, block.max(SMALLEST_BLOCK))
    }
}

/// A transfer below this is mostly overhead.
const SMALLEST_BLOCK: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs takers one after another, each waiting as required, and says how long all took.
    fn run(rate: u64, block: u64, count: u32, late: Duration) -> Duration {
        let mut bucket = Bucket::new(rate);
        let mut now = Duration::from_secs(1000);
        let start = now;
        for _ in 0..count {
            let wait = bucket.take(block, now);
            now += if wait.is_zero() { wait } else { wait + late };
        }
        now - start
    }

    #[test]
    fn the_rate_is_kept() {
        let exact = run(10_000_000, 100_000, 1000, Duration::ZERO).as_secs_f64();
        assert!((9.9..=10.0).contains(&exact), "{exact}");
        // Waking up 5 ms late each time is caught up.
        let late = run(10_000_000, 100_000, 1000, Duration::from_millis(5)).as_secs_f64();
        assert!((9.9..=10.1).contains(&late), "{late}");
    }

    #[test]
    fn a_pause_is_no_credit() {
        let mut bucket = Bucket::new(1_000_000);
        assert!(bucket.take(1_000_000, Duration::from_secs(10)) >= Duration::from_millis(950));
        assert!(bucket.take(1_000_000, Duration::from_secs(100)) >= Duration::from_millis(950));
    }

    #[test]
    fn what_is_waited_for_is_known_and_counted_once() {
        let (mut bucket, second) = (Bucket::new(1_000_000), Duration::from_secs);
        assert_eq!(bucket.take(50_000, second(10)), Duration::ZERO);
        assert_eq!((bucket.take(1_000_000, second(10)), bucket.held()), (second(1), second(1)));
        // Two at once wait together.
        assert_eq!((bucket.take(1_000_000, second(10)), bucket.held()), (second(2), second(2)));
        assert_eq!((bucket.take(50_000, second(20)), bucket.held()), (Duration::ZERO, second(2)));
    }

    #[test]
    fn what_is_given_back_is_not_waited_for_twice() {
        let (mut bucket, second) = (Bucket::new(1_000_000), Duration::from_secs);
        assert_eq!(bucket.take(1_000_000, second(0)), second(1));
        bucket.give_back(1_000_000);
        assert_eq!(bucket.take(1_000_000, second(1)), Duration::ZERO);
        assert!(bucket.take(1_000_000, second(1)) >= Duration::from_millis(950));
    }

    #[test]
    fn slow_copies_use_small_transfers() {
        assert_eq!(Bucket::smooth_block(1_000_000_000, 1 << 20), 1 << 20);
        assert_eq!(Bucket::smooth_block(2_000_000, 1 << 20), 3 * 64 * 1024);
        assert_eq!(Bucket::smooth_block(1, 1 << 20), 64 * 1024);
    }
}
