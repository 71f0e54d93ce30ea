//! COMMIT.

use howdah_vfs::{Caller, Change, Committed, Handle, Result};
use howdah_wire::nfs3::commit;

use super::client::Nfs3;
use super::convert::{file_handle, note};
use super::exchange::success;
use super::procedure::Procedure;
use crate::channel::Class;

const PROCEDURE: Procedure = Procedure::idempotent(commit::PROCEDURE, "COMMIT", Class::Commit);

impl Nfs3 {
    pub(super) fn commit_range(
        &self,
        caller: &Caller,
        node: &Handle,
        offset: u64,
        count: u64,
        change: &mut Change,
    ) -> Result<Committed> {
        // More than the protocol can say is "up to the end".
        let count = u32::try_from(count).unwrap_or(0);
        let arguments = commit::Arguments { node: file_handle(node), offset, count };
        let results = self.call(caller, PROCEDURE, &arguments)?;
        let done = success(results.decode::<commit::Reply>(PROCEDURE)?, |reply| note(change, reply))?;
        note(change, &done.file);
        Ok(Committed { verifier: done.verifier })
    }
}
