//! Whether ranges of files can be sent: whoever sends them says when that fails, and whoever answers READs asks.

use std::time::Instant;

use parking_lot::Mutex;

use crate::limits::RANGE_DOUBT;

/// Until when READs are copied into their replies.
#[derive(Default)]
pub struct RangeDoubt(Mutex<Option<Instant>>);

impl RangeDoubt {
    /// Sending a range of a file failed after its reply had begun, and its connection with it: the file system cannot
    /// send ranges, or its storage is broken. The client will ask again on another connection, where only a READ that
    /// is copied can be refused with a status.
    pub fn doubt(&self) {
        *self.0.lock() = Some(Instant::now() + RANGE_DOUBT);
    }

    /// Whether READs are copied into their replies for now.
    pub fn are_doubted(&self) -> bool {
        self.0.lock().is_some_and(|until| Instant::now() < until)
    }
}
