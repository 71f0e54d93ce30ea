//! GETATTR, and the attributes that other answers may leave out.

use howdah_vfs::{Attributes, Caller, Handle, Result};
use howdah_wire::nfs3::{self, getattr};

use super::client::Nfs3;
use super::convert::{attributes, file_handle};
use super::exchange::success;
use super::procedure::Procedure;
use crate::channel::Class;

const PROCEDURE: Procedure = Procedure::idempotent(getattr::PROCEDURE, "GETATTR", Class::Attributes);

impl Nfs3 {
    pub(super) fn get_attributes(&self, caller: &Caller, node: &Handle) -> Result<Attributes> {
        let results = self.call(caller, PROCEDURE, &getattr::Arguments { node: file_handle(node) })?;
        let reply = success(results.decode::<getattr::Reply>(PROCEDURE)?, |()| {})?;
        Ok(attributes(&reply.attributes))
    }

    /// The attributes of a reply, or else those now.
    pub(super) fn told(
        &self,
        caller: &Caller,
        node: &Handle,
        told: Option<&nfs3::Attributes>,
    ) -> Result<Attributes> {
        told.map_or_else(|| self.get_attributes(caller, node), |told| Ok(attributes(told)))
    }
}
