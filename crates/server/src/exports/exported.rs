//! The exports as they are now: a reload puts others in their place.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::copies::Copies;

use super::{Export, Exports};

/// What is exported now.
pub struct Exported {
    exports: Copies<Arc<Exports>>,
    /// Whether calls may wait for another host: of any of them, or for the groups of their callers, or the names of their clients.
    any_waits: AtomicBool,
}

impl Exported {
    /// These.
    pub fn new(exports: Exports) -> Self {
        let any_waits = AtomicBool::new(any_waits(&exports));
        Self { exports: Copies::new(Arc::new(exports)), any_waits }
    }

    /// The exports as they are now: a call keeps one view of them from start to end.
    pub fn now(&self) -> Arc<Exports> {
        self.exports.look(Arc::clone)
    }

    /// Whether calls may wait for another host.
    #[inline]
    pub fn any_waits(&self) -> bool {
        self.any_waits.load(Ordering::Relaxed)
    }

    /// Replaces the exports; calls that run keep the old ones.
    pub fn replace(&self, exports: Exports) {
        self.any_waits.store(any_waits(&exports), Ordering::Relaxed);
        self.exports.replace(&Arc::new(exports));
    }
}

fn any_waits(exports: &Exports) -> bool {
    let waits =
        |export: &Export| export.waits() || export.accounts().is_some() || export.host_names().is_some();
    exports.groups().is_some() || exports.principals().is_some() || exports.iter().any(waits)
}
