//! LOOKUP and LOOKUPP.

use howdah_vfs::{Caller, Found, FsError, Handle, Node, Result, Shown};
use howdah_wire::nfs4::{Status, getfh, lookup, lookupp, putfh};

use super::change::LOOK;
use super::client::Nfs4Client;
use super::compound::Compound;
use super::exchange::CompoundCalls;
use super::handles::Handles;
use super::operation::Operation;
use super::results::ResultReader;
use super::walk::places;
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
        if reader.ended() == Status::MOVED {
            return Err(moved(&self.calls, caller, put, name));
        }
        reader.skip(lookup::OPERATION)?;
        Ok(Found { node: self.met(reader.node(&self.calls.handles)?), directory: Some(directory) })
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

/// Warns that a name leads to another server, with that server's address if known, and gives the error for the caller.
fn moved(calls: &CompoundCalls, caller: &Caller, put: Operation<'_>, name: &[u8]) -> FsError {
    let places = places(calls, caller, put, &[name.to_vec()]);
    let name = Shown(name);
    match places.is_empty() {
        true => tracing::warn!("{name} is on another server, which this one does not name"),
        false => tracing::warn!("{name} is on another server: use {}", places.join(", or ")),
    }
    FsError::Io
}
