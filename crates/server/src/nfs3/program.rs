//! NFS version 3 as a program that is served: what its handlers share.

use std::sync::Arc;

use howdah_state::IoKind;

use super::makers::Makers;
use crate::exports::{Exported, Exports};
use crate::range_doubt::RangeDoubt;
use crate::states::{FileKey, States};

/// The state behind the procedures.
pub struct Nfs3Program {
    exports: Arc<Exported>,
    /// Who made files exclusively.
    pub(super) makers: Makers,
    /// Whether READs are copied.
    pub(super) ranges: Arc<RangeDoubt>,
    /// What clients of NFSv4 have open, if that is served.
    states: Option<Arc<States>>,
}

impl Nfs3Program {
    /// Serves these exports, beside what clients of NFSv4 have open in them.
    pub fn new(exports: Arc<Exported>, ranges: Arc<RangeDoubt>, states: Option<Arc<States>>) -> Self {
        Self { exports, makers: Makers::default(), ranges, states }
    }

    /// Whether data of a file may be read or changed: the open of an NFSv4 client may deny it to all others.
    pub(super) fn permits(&self, file: impl FnOnce() -> FileKey, kind: IoKind) -> bool {
        self.states.as_ref().is_none_or(|states| states.permits(file, kind))
    }

    /// What clients of NFSv4 have open, if that is served.
    pub(super) fn states(&self) -> Option<&Arc<States>> {
        self.states.as_ref()
    }

    /// The exports as they are now.
    pub(super) fn exports(&self) -> Arc<Exports> {
        self.exports.now()
    }
}
