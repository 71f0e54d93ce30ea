//! READLINK.

use howdah_vfs::{Attributes, Caller, Handle, Result};
use howdah_wire::nfs4::{putfh, readlink};

use super::change::LOOK;
use super::client::Nfs4Client;
use super::compound::Compound;
use super::operation::Operation;
use crate::channel::Class;

impl Nfs4Client {
    pub(super) fn read_target(
        &self,
        caller: &Caller,
        node: &Handle,
        target: &mut Vec<u8>,
    ) -> Result<Attributes> {
        // Last, as READ is: see `read`.
        let operations = [self.put(node)?, LOOK, Operation::ReadLink];
        let results = self.call(caller, &Compound::new("READLINK", Class::Lookup, &operations))?;
        let mut reader = results.read()?;
        reader.skip(putfh::OPERATION)?;
        let attributes = reader.look()?;
        let reply = reader.take::<readlink::Success<'_>>(readlink::OPERATION)?;
        target.extend_from_slice(reply.target.0);
        Ok(attributes)
    }
}
