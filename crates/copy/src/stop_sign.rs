//! What stops a copy.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
}
