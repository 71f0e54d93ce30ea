//! The exports as they are now: a reload puts others in their place.

use std::sync::Arc;

use parking_lot::RwLock;

use super::Exports;

/// What is exported now.
pub struct Exported(RwLock<Arc<Exports>>);

impl Exported {
    /// These.
    pub fn new(exports: Exports) -> Self {
        Self(RwLock::new(Arc::new(exports)))
    }

    /// The exports as they are now: a call keeps one view of them from start to end.
    pub fn now(&self) -> Arc<Exports> {
        Arc::clone(&self.0.read())
    }

    /// Replaces the exports; calls that run keep the old ones.
    pub fn replace(&self, exports: Exports) {
        *self.0.write() = Arc::new(exports);
    }
}
