//! The clock that a file system in memory stamps its nodes with: an argument, since this floor has none of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Timestamp;

/// Returns the time of day.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The step of [`counting_clock`]: coarse enough to survive every protocol, fine enough never to matter.
const STEP_NANOSECONDS: u64 = 1_000_000;

/// Where [`counting_clock`] starts: a day in 2001, so that no test takes it for the present.
const START_SECONDS: i64 = 1_000_000_000;

/// A clock that goes on by a millisecond each time it is asked, so that no two changes bear the same time.
pub fn counting_clock() -> Clock {
    let asked = AtomicU64::new(0);
    Arc::new(move || {
        let nanoseconds = asked.fetch_add(1, Ordering::Relaxed) * STEP_NANOSECONDS;
        Timestamp {
            seconds: START_SECONDS + (nanoseconds / 1_000_000_000) as i64,
            nanoseconds: (nanoseconds % 1_000_000_000) as u32,
        }
    })
}
