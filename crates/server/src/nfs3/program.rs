//! NFS version 3 as a program that is served: what its handlers share.

use std::sync::Arc;

use super::makers::Makers;
use crate::exports::{Exported, Exports};
use crate::range_doubt::RangeDoubt;

/// The state behind the procedures.
pub struct Nfs3 {
    exports: Arc<Exported>,
    /// Who made files exclusively.
    pub(super) makers: Makers,
    /// Whether READs are copied.
    pub(super) ranges: Arc<RangeDoubt>,
}

impl Nfs3 {
    /// Serves these exports.
    pub fn new(exports: Arc<Exported>, ranges: Arc<RangeDoubt>) -> Self {
        Self { exports, makers: Makers::default(), ranges }
    }

    /// The exports as they are now.
    pub(super) fn exports(&self) -> Arc<Exports> {
        self.exports.now()
    }
}
