//! What the procedures of rquota know: the exports.

use std::sync::Arc;

use crate::exports::{Exported, Exports};

/// The state behind the procedures.
pub struct RemoteQuotas {
    exports: Arc<Exported>,
}

impl RemoteQuotas {
    /// Answers with the quotas of these exports.
    pub fn new(exports: Arc<Exported>) -> Self {
        Self { exports }
    }

    /// The exports as they are now.
    pub(super) fn exports(&self) -> Arc<Exports> {
        self.exports.now()
    }
}
