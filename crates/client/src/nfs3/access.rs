//! ACCESS.

use howdah_vfs::{Access, Attributes, Caller, Handle, Result};
use howdah_wire::nfs3::access;

use super::client::Nfs3;
use super::convert::file_handle;
use super::exchange::success;
use super::procedure::Procedure;
use crate::channel::Class;

const PROCEDURE: Procedure = Procedure::idempotent(access::PROCEDURE, "ACCESS", Class::Attributes);

impl Nfs3 {
    pub(super) fn check_access(
        &self,
        caller: &Caller,
        node: &Handle,
        wanted: Access,
    ) -> Result<(Access, Attributes)> {
        let arguments = access::Arguments { node: file_handle(node), wanted: wanted.bits() };
        let results = self.call(caller, PROCEDURE, &arguments)?;
        let reply = success(results.decode::<access::Reply>(PROCEDURE)?, |_| {})?;
        // A server may grant rights that nobody asked about.
        let granted = Access::from_bits(reply.granted) & wanted;
        Ok((granted, self.told(caller, node, reply.attributes.as_ref())?))
    }
}
