//! REMOVE and RMDIR.

use howdah_vfs::{Caller, Change, FsError, Handle, Name, Result};
use howdah_wire::nfs3::{DirectoryName, WeakCacheConsistency, remove, rmdir};

use super::client::Nfs3;
use super::convert::file_handle;
use super::exchange::success;
use super::procedure::Procedure;

/// Removes what is no directory.
pub const REMOVE: Procedure = Procedure::once(remove::PROCEDURE, "REMOVE");
/// Removes an empty directory.
pub const RMDIR: Procedure = Procedure::once(rmdir::PROCEDURE, "RMDIR");

impl Nfs3 {
    pub(super) fn remove_by(
        &self,
        procedure: Procedure,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        change: &mut Change,
    ) -> Result<()> {
        let object = DirectoryName { directory: file_handle(directory), name: name.as_bytes() };
        let results = self.call(caller, procedure, &remove::Arguments { object })?;
        let mut on_refusal = WeakCacheConsistency::default();
        let done = success(results.decode::<remove::Reply>(procedure)?, |seen| on_refusal = *seen);
        // The name is gone, which is what was wanted, no matter which client did it.
        let gone = || Ok(Some(remove::Success { directory: on_refusal }));
        let done = self.judge(&results, done, FsError::NotFound, gone);
        results.note(change, done.as_ref().map_or(&on_refusal, |done| &done.directory));
        done.map(drop)
    }
}
