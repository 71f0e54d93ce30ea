//! RENAME.

use std::time::Instant;

use howdah_vfs::{Caller, Change, FsError, Handle, Name, Result};
use howdah_wire::nfs3::{DirectoryName, rename};

use super::client::Nfs3;
use super::convert::file_handle;
use super::exchange::success;
use super::procedure::Procedure;
use crate::common::may_be_named_within;

const PROCEDURE: Procedure = Procedure::once(rename::PROCEDURE, "RENAME");

impl Nfs3 {
    pub(super) fn rename_node(
        &self,
        caller: &Caller,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
        (left, entered): (&mut Change, &mut Change),
    ) -> Result<()> {
        let arguments = rename::Arguments {
            from: DirectoryName { directory: file_handle(from.0), name: from.1.as_bytes() },
            to: DirectoryName { directory: file_handle(to.0), name: to.1.as_bytes() },
        };
        let began = Instant::now();
        let results = self.call(caller, PROCEDURE, &arguments)?;
        let mut on_refusal = rename::Directories::default();
        let done = success(results.decode::<rename::Reply>(PROCEDURE)?, |seen| on_refusal = *seen);
        // The old name is gone, and something has got the new one since.
        let done = self.judge(&results, done, FsError::NotFound, || {
            let found = self.look_up(caller, to.0, to.1.as_bytes())?;
            Ok(may_be_named_within(&found, began.elapsed()).then_some(on_refusal))
        });
        let seen = done.as_ref().unwrap_or(&on_refusal);
        results.note(left, &seen.from);
        results.note(entered, &seen.to);
        done.map(drop)
    }
}
