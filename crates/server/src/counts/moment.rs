//! Moments as one number: they go with each call and each reply, and a subtraction gives the time between two.

use std::num::NonZeroU64;

use rustix::time::{ClockId, clock_gettime};

/// A moment of the host's monotonic clock, in nanoseconds since it began (with the host, so that none is 0).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(NonZeroU64);

impl Moment {
    /// Now.
    #[inline]
    pub fn now() -> Self {
        const SECOND: u64 = 1_000_000_000;
        let time = clock_gettime(ClockId::Monotonic);
        Self::at(time.tv_sec as u64 * SECOND + time.tv_nsec as u64)
    }

    /// So many nanoseconds after the clock began.
    #[inline]
    pub fn at(nanoseconds: u64) -> Self {
        NonZeroU64::new(nanoseconds).map_or(Self(NonZeroU64::MIN), Self)
    }

    /// Nanoseconds after the clock began.
    pub fn nanoseconds(self) -> u64 {
        self.0.get()
    }

    /// Nanoseconds that went by since an earlier moment.
    #[inline]
    pub fn since(self, earlier: Self) -> u64 {
        self.0.get().saturating_sub(earlier.0.get())
    }
}
