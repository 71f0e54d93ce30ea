//! How long a call of the farther side takes.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use howdah_tune::flight::Expected;
use howdah_vfs::{Attributes, FsError, Handle, Node};

use super::Side;

/// The longest call that was timed.
#[derive(Default)]
pub(super) struct Latency {
    microseconds: AtomicU64,
    /// A call of the source was among those.
    is_source_timed: AtomicBool,
}

impl Latency {
    /// So long, or nothing if no call was timed.
    pub(super) fn known(&self) -> Duration {
        Duration::from_micros(self.microseconds.load(Ordering::Relaxed))
    }

    /// The attributes of a node; how long that took is how long a call takes.
    pub(super) fn attributes(&self, side: &Side, node: &Handle) -> Result<Attributes, FsError> {
        let start = Instant::now();
        let attributes = side.attributes(node);
        self.note_latency(start.elapsed());
        attributes
    }

    fn note_latency(&self, took: Duration) {
        let took = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.microseconds.fetch_max(took.max(1), Ordering::Relaxed);
    }

    /// How long a call of the source takes, once for all items: a thousand of them far away would wait a thousand times. What is
    /// expected of the path says it without a call.
    pub(super) fn time_source(&self, source: &Side, node: &Node, expected: Option<Expected>) {
        if self.is_source_timed.swap(true, Ordering::Relaxed) {
            return;
        }
        match expected {
            Some(expected) => self.note_latency(expected.latency),
            None => _ = self.attributes(source, &node.handle),
        }
    }
}
