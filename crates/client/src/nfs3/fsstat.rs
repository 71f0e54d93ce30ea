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
        let reply = success(results.decode::<fsstat::Reply>(PROCEDURE)?, |_| {})?;
        Ok(Statistics {
            total_bytes: reply.total_bytes,
            free_bytes: reply.free_bytes,
            available_bytes: reply.available_bytes,
            total_files: reply.total_files,
            free_files: reply.free_files,
            available_files: reply.available_files,
        })
    }
}
