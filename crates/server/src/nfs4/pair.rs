//! The two files that COPY and CLONE work on: the saved one is read, the current one is written.

use howdah_state::IoKind;
use howdah_vfs::{FsError, Handle, RangeOperations};
use howdah_wire::nfs4::{StateId, Status};

use super::compound::Compound;
use super::convert;
use super::node::ExportedNode;
use super::read::of_kind;

/// Two files of one export.
pub struct Pair<'f, 'c> {
    /// The file that is read.
    pub source: &'f ExportedNode<'c>,
    /// The file that is written.
    pub target: &'f ExportedNode<'c>,
    /// The calls of their file system.
    pub ranges: &'f dyn RangeOperations,
}

impl<'f, 'c> Pair<'f, 'c> {
    /// The saved and the current file, for a caller that may read and write them by these stateids.
    ///
    /// # Errors
    /// One of them is missing or no file, their file system cannot do this, they lie in two exports, or a stateid is not
    /// good for this.
    pub fn of(
        compound: &'f Compound<'c>,
        source_state: StateId,
        target_state: StateId,
    ) -> Result<Self, Status> {
        let (source, target) = (compound.saved_object(Status::ISDIR)?, compound.object(Status::ISDIR)?);
        let ranges = target.ranges()?;
        if !source.is_beside(target) {
            return Err(Status::XDEV);
        }
        let saved = compound.saved_stateid_of(source_state)?;
        compound.check_io(source, saved, IoKind::Read).map_err(|status| of_kind(source, status))?;
        compound.check_io(target, target_state, IoKind::Write).map_err(|status| of_kind(target, status))?;
        Ok(Self { source, target, ranges })
    }

    /// An offset in the file that is read.
    pub fn from(&self, offset: u64) -> (&'f Handle, u64) {
        (&self.source.handle, offset)
    }

    /// An offset in the file that is written.
    pub fn to(&self, offset: u64) -> (&'f Handle, u64) {
        (&self.target.handle, offset)
    }

    /// The status of a refusal: if one of them is no regular file, that is what is wrong.
    pub fn refusal(&self, error: FsError) -> Status {
        let status = convert::status(error);
        match error {
            FsError::Invalid => of_kind(self.target, of_kind(self.source, status)),
            _ => status,
        }
    }
}
