//! Attributes of NFSv4 that a record holds.

use howdah_wire::nfs4::FileType;
use howdah_wire::nfs4::attributes::Values;
use howdah_wire::nfs4::create::NewNode;

use crate::format::{Call, Kind};

/// Records the attributes that a call sets.
pub fn set(values: &Values<'_>, call: &mut Call) {
    let Ok(new) = values.decode_all() else { return };
    let permissions = &new.permissions;
    call.mode = permissions.mode.or(permissions.mode_and_mask.map(|both| both.mode));
    call.set_size = new.content.size;
    call.set_owner = permissions.owner.is_some() || permissions.group.is_some();
    call.set_times = new.times.set_accessed.is_some() || new.times.set_modified.is_some();
}

/// What a node is, and its bytes.
pub fn node(values: &Values<'_>) -> (Option<Kind>, Option<u64>) {
    let Ok(found) = values.decode_all() else { return (None, None) };
    (found.identity.kind.map(kind), found.content.size)
}

fn kind(kind: FileType) -> Kind {
    match kind {
        FileType::Regular | FileType::NamedAttribute => Kind::File,
        FileType::Directory | FileType::AttributeDirectory => Kind::Directory,
        FileType::SymbolicLink => Kind::Link,
        FileType::BlockDevice | FileType::CharacterDevice | FileType::Socket | FileType::Fifo => {
            Kind::Special
        }
    }
}

/// What CREATE makes.
pub fn made(node: &NewNode<'_>) -> Kind {
    match node {
        NewNode::Directory | NewNode::Other(_) => Kind::Directory,
        NewNode::SymbolicLink(_) => Kind::Link,
        NewNode::BlockDevice(_) | NewNode::CharacterDevice(_) | NewNode::Socket | NewNode::Fifo => {
            Kind::Special
        }
    }
}
