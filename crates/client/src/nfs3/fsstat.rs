//! FSSTAT.

use howdah_vfs::{Caller, Handle, Result, Statistics};
use howdah_wire::nfs3::fsstat;

use super::client::Nfs3;
use super::convert::file_handle;
use super::exchange::success;
use super::procedure::Procedure;
use crate::channel::Class;

const PROCEDURE: Procedure = Procedure::idempotent(fsstat::PROCEDURE, "FSSTAT", Class::Attributes);

impl Nfs3 {
    pub(super) fn told_statistics(&self, caller: &Caller, node: &Handle) -> Result<Statistics> {
        let results = self.call(caller, PROCEDURE, &fsstat::Arguments { node: file_handle(node) })?;
        let told = success(results.decode::<fsstat::Reply>(PROCEDURE)?, |_| {})?;
        Ok(Statistics {
            total_bytes: told.total_bytes,
            free_bytes: told.free_bytes,
            available_bytes: told.available_bytes,
            total_files: told.total_files,
            free_files: told.free_files,
            available_files: told.available_files,
        })
    }
}
