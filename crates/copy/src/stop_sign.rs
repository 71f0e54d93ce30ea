//! What stops a copy.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The longest wait without a look whether to stop.
const NAP: Duration = Duration::from_millis(50);

/// Says to a copy that it is to stop; any number of threads may hold one.
#[derive(Debug, Clone, Default)]
pub struct StopSign(Arc<AtomicBool>);

impl StopSign {
    /// Stops the copy: blocks on their way are completed, and what is written is committed and remembered.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it is to stop.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Waits so long, or until the copy is to stop. Says whether to go on.
    pub(super) fn wait(&self, time: Duration) -> bool {
        let start = Instant::now();
        while !self.is_set() {
            let left = time.saturating_sub(start.elapsed());
            if left.is_zero() {
                return true;
            }
            thread::sleep(left.min(NAP));
        }
        false
    }
}
