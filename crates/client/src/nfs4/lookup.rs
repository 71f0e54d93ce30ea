//! LOOKUP and LOOKUPP.

use howdah_vfs::{Caller, Found, Handle, Node, Result};
use howdah_wire::nfs4::{getfh, lookup, lookupp, putfh};

use super::change::LOOK;
use super::client::Nfs4Client;
use super::compound::Compound;
use super::handles::Handles;
use super::operation::Operation;
use super::results::ResultReader;
use crate::channel::Class;

impl ResultReader<'_> {
    /// The node in the replies to the next GETFH and GETATTR.
    pub(super) fn node(&mut self, handles: &Handles) -> Result<Node> {
        let reply = self.take::<getfh::Success<'_>>(getfh::OPERATION)?;
        let handle = handles.learn(reply.node)?;
        Ok(Node { handle, attributes: self.look()? })
    }
}

impl Nfs4Client {
    /// The node of a name.
    pub(super) fn look_up(&self, caller: &Caller, directory: &Handle, name: &[u8]) -> Result<Found> {
        let put = self.put(directory)?;
        let operations = [put, LOOK, Operation::Lookup(name), Operation::GetHandle, LOOK];
        let results = self.call(caller, &Compound::new("LOOKUP", Class::Lookup, &operations))?;
        let mut reader = results.read()?;
        reader.skip(putfh::OPERATION)?;
        let directory = reader.look()?;
        reader.skip(lookup::OPERATION)?;
        Ok(Found { node: reader.node(&self.calls.handles)?, directory: Some(directory) })
    }

    /// The directory that holds this one. What lies above the root is not asked for: it may be another export.
    pub(super) fn look_up_parent(&self, caller: &Caller, directory: &Handle) -> Result<Found> {
        if *directory == self.root.handle {
            let attributes = self.get_attributes(caller, directory)?;
            let node = Node { handle: *directory, attributes };
            return Ok(Found { node, directory: Some(attributes) });
        }
        let put = self.put(directory)?;
        let operations = [put, LOOK, Operation::LookupParent, Operation::GetHandle, LOOK];
        let results = self.call(caller, &Compound::new("LOOKUPP", Class::Lookup, &operations))?;
        let mut reader = results.read()?;
        reader.skip(putfh::OPERATION)?;
        let directory = reader.look()?;
        reader.skip(lookupp::OPERATION)?;
        Ok(Found { node: reader.node(&self.calls.handles)?, directory: Some(directory) })
    }
}
