//! FSINFO.

use howdah_vfs::{Caller, Handle, Result};
use howdah_wire::nfs3::fsinfo;

use super::client::Nfs3;
use super::convert::file_handle;
use super::exchange::success;
use super::procedure::Procedure;
use crate::channel::Class;

const PROCEDURE: Procedure = Procedure::idempotent(fsinfo::PROCEDURE, "FSINFO", Class::Attributes);

impl Nfs3 {
    pub(super) fn information(&self, caller: &Caller, node: &Handle) -> Result<fsinfo::Success> {
        let results = self.call(caller, PROCEDURE, &fsinfo::Arguments { node: file_handle(node) })?;
        success(results.decode::<fsinfo::Reply>(PROCEDURE)?, |_| {})
    }
}
