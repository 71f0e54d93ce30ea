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
        let told = success(results.decode::<access::Reply>(PROCEDURE)?, |_| {})?;
        // A server may tell of rights that nobody asked about.
        let granted = Access::from_bits(told.granted) & wanted;
        Ok((granted, self.told(caller, node, told.attributes.as_ref())?))
    }
}
