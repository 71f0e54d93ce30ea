//! READLINK.

use howdah_vfs::{Attributes, Caller, Handle, Result};
use howdah_wire::nfs3::readlink;

use super::client::Nfs3;
use super::convert::file_handle;
use super::exchange::success;
use super::procedure::Procedure;
use crate::channel::Class;

const PROCEDURE: Procedure = Procedure::idempotent(readlink::PROCEDURE, "READLINK", Class::Lookup);

impl Nfs3 {
    pub(super) fn read_target(
        &self,
        caller: &Caller,
        node: &Handle,
        target: &mut Vec<u8>,
    ) -> Result<Attributes> {
        let results = self.call(caller, PROCEDURE, &readlink::Arguments { link: file_handle(node) })?;
        let link = success(results.decode::<readlink::Reply<'_>>(PROCEDURE)?, |_| {})?;
        let attributes = self.told(caller, node, link.attributes.as_ref())?;
        target.extend_from_slice(link.target);
        Ok(attributes)
    }
}
