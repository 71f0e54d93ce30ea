//! The two ways in which a server copies by itself, and those that it refused.

use std::sync::atomic::{AtomicBool, Ordering};

/// How a server copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerWay {
    /// The copy shares the storage of its source.
    Clone,
    /// The server reads and writes.
    Copy,
}

/// The ways that a server refused.
#[derive(Debug, Default)]
pub(super) struct ServerRefusals {
    clone: AtomicBool,
    copy: AtomicBool,
}

impl ServerRefusals {
    /// Whether this way was refused, to be set.
    pub(super) fn of(&self, way: ServerWay) -> &AtomicBool {
        match way {
            ServerWay::Clone => &self.clone,
            ServerWay::Copy => &self.copy,
        }
    }

    /// Whether this way was refused.
    pub(super) fn has(&self, way: ServerWay) -> bool {
        self.of(way).load(Ordering::Relaxed)
    }
}
