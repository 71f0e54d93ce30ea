//! CREATE: directories, symbolic links, devices, sockets and pipes.

use howdah_vfs::{Caller, Change, FileKind, FsError, Handle, Name, NewAttributes, Node, Result, SpecialKind};
use howdah_wire::nfs4::create::NewNode;
use howdah_wire::nfs4::{self, create, putfh};

use super::change::{LOOK, changed};
use super::client::Nfs4Client;
use super::compound::Compound;
use super::convert::{ToSet, device};
use super::operation::Operation;
use super::set_attributes::SETTABLE;

/// The place of a new node, and its maker.
#[derive(Clone, Copy)]
pub(super) struct NewName<'p> {
    pub(super) caller: &'p Caller,
    pub(super) directory: &'p Handle,
    pub(super) name: Name<'p>,
}

impl Nfs4Client {
    /// Makes a node that is no regular file.
    pub(super) fn make(
        &self,
        place: NewName<'_>,
        node: NewNode<'_>,
        new: &NewAttributes,
        change: &mut Change,
    ) -> Result<Node> {
        let NewName { caller, directory, name } = place;
        let new = ToSet::new(new, SETTABLE);
        let name = nfs4::Name(name.as_bytes());
        let make = Operation::Create(create::Arguments { node, name, attributes: new.as_wire() });
        let put = self.put(directory)?;
        let operations = [put, LOOK, make, Operation::GetHandle, LOOK, put, LOOK];
        let results = self.call(caller, &Compound::change("CREATE", &operations))?;
        let mut reader = results.read()?;
        reader.skip(putfh::OPERATION)?;
        let before = reader.look()?;
        *change = Change::none(Some(before));
        let reply = reader.take::<create::Success>(create::OPERATION).map_err(FsError::from);
        if results.repeated && reply == Err(FsError::Exists) {
            // The first run may have made it, in the session that ended.
            let there = self.look_up(caller, directory, place.name.as_bytes())?.node;
            return if is_of(&there, node) { Ok(there) } else { Err(FsError::Exists) };
        }
        let reply = reply?.directory;
        *change = changed(&before, reply, None);
        let made = match reader.node(&self.calls.handles) {
            // It is made.
            Err(FsError::Delay) => self.look_up(caller, directory, place.name.as_bytes())?.node,
            made => made?,
        };
        if reader.skip(putfh::OPERATION).is_ok() {
            *change = changed(&before, reply, reader.look().ok());
        }
        Ok(made)
    }
}

/// Whether a node was just made as it was to be.
fn is_of(node: &Node, wanted: NewNode<'_>) -> bool {
    let kind = match wanted {
        NewNode::Directory => FileKind::Directory,
        NewNode::BlockDevice(_) => FileKind::BlockDevice,
        NewNode::CharacterDevice(_) => FileKind::CharacterDevice,
        NewNode::SymbolicLink(_) => FileKind::SymbolicLink,
        NewNode::Socket => FileKind::Socket,
        NewNode::Fifo => FileKind::Fifo,
        NewNode::Other(_) => return false,
    };
    node.attributes.kind == kind && node.attributes.changed == node.attributes.modified
}

/// A special node as CREATE takes it.
pub(super) fn special(kind: SpecialKind) -> NewNode<'static> {
    match kind {
        SpecialKind::BlockDevice(number) => NewNode::BlockDevice(device(number)),
        SpecialKind::CharacterDevice(number) => NewNode::CharacterDevice(device(number)),
        SpecialKind::Socket => NewNode::Socket,
        SpecialKind::Fifo => NewNode::Fifo,
    }
}
