//! Whether ranges of files can be sent: the sender says when that fails, and handlers of READ ask.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::counts::Moment;
use crate::limits::RANGE_DOUBT;

/// Until when READs are copied into their replies, in nanoseconds of [`Moment`]; 0 while they are not.
#[derive(Default)]
pub struct RangeDoubt(AtomicU64);

impl RangeDoubt {
    /// Sending a range of a file failed after its reply had begun, and its connection with it: the file system cannot
    /// send ranges, or its storage is broken. The client will ask again on another connection, where only a READ that
    /// is copied can be refused with a status.
    pub fn doubt(&self) {
        self.0.store(Moment::now().nanoseconds() + RANGE_DOUBT.as_nanos() as u64, Ordering::Relaxed);
    }

    /// Whether READs are copied into their replies for now.
    pub fn are_doubted(&self) -> bool {
        let until = self.0.load(Ordering::Relaxed);
        until != 0 && Moment::now().nanoseconds() < until
    }
}
