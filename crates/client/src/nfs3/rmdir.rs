//! RMDIR.

use howdah_vfs::{Caller, Change, FsError, Handle, Name, Result};
use howdah_wire::nfs3::{DirectoryName, WeakCacheConsistency, rmdir};

use super::client::Nfs3;
use super::convert::file_handle;
use super::exchange::success;
use super::procedure::Procedure;

const PROCEDURE: Procedure = Procedure::once(rmdir::PROCEDURE, "RMDIR");

impl Nfs3 {
    pub(super) fn remove_empty(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        change: &mut Change,
    ) -> Result<()> {
        let object = DirectoryName { directory: file_handle(directory), name: name.as_bytes() };
        let results = self.call(caller, PROCEDURE, &rmdir::Arguments { object })?;
        let mut on_refusal = WeakCacheConsistency::default();
        let done = success(results.decode::<rmdir::Reply>(PROCEDURE)?, |seen| on_refusal = *seen);
        // The name is gone, which is what was wanted, no matter which client did it.
        let gone = || Ok(Some(rmdir::Success { directory: on_refusal }));
        let done = self.judge(&results, done, FsError::NotFound, gone);
        results.note(change, done.as_ref().map_or(&on_refusal, |done| &done.directory));
        done.map(drop)
    }
}
