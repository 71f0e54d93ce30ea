//! What the procedures of MOUNT know: what is exported, and who has mounted what.

use std::sync::Arc;

use super::mounts::Mounts;
use crate::exports::{Exported, Exports};

/// The state behind the procedures.
pub struct MountProtocol {
    exports: Arc<Exported>,
    /// Who has mounted what, as DUMP lists it.
    pub mounts: Mounts,
}

impl MountProtocol {
    /// Serves these exports.
    pub fn new(exports: Arc<Exported>) -> Self {
        Self { exports, mounts: Mounts::default() }
    }

    /// The exports as they are now.
    pub fn exports(&self) -> Arc<Exports> {
        self.exports.now()
    }
}
