//! ACCESS.

use howdah_vfs::{Access, Attributes, Caller, Handle, Result};
use howdah_wire::nfs4::{access, putfh};

use super::change::LOOK;
use super::client::Nfs4Client;
use super::compound::Compound;
use super::operation::Operation;
use crate::channel::Class;

impl Nfs4Client {
    pub(super) fn check_access(
        &self,
        caller: &Caller,
        node: &Handle,
        wanted: Access,
    ) -> Result<(Access, Attributes)> {
        let arguments = access::Arguments { wanted: wanted.bits() };
        let operations = [self.put(node)?, Operation::Access(arguments), LOOK];
        let results = self.call(caller, &Compound::new("ACCESS", Class::Attributes, &operations))?;
        let mut reader = results.read()?;
        reader.skip(putfh::OPERATION)?;
        let reply = reader.take::<access::Success>(access::OPERATION)?;
        // A server may grant rights that nobody asked about.
        Ok((Access::from_bits(reply.granted) & wanted, reader.look()?))
    }
}
