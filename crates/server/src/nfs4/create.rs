//! CREATE: makes a node that is not a regular file, and makes it the current one.

use howdah_vfs::{Change, FileSystem, FsError, MakeDirectory, MakeLink, MakeSpecial, SpecialKind};
use howdah_wire::nfs4::Status;
use howdah_wire::nfs4::create::{Arguments, NewNode, Success};
use howdah_wire::xdr::{Decode, Decoder};

use super::compound::{Compound, Outcome};
use super::node::CurrentNode;
use super::{convert, names, setting};
use crate::Reply;

/// The longest target of a symbolic link, in bytes.
const TARGET_MAX: usize = crate::limits::LINK_TARGET_MAX;

/// Answers it.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let Arguments { node, name, attributes } = Arguments::decode(arguments)?;
    let directory = compound.changed()?.clone();
    let (new, attributes_set) = setting::of_new(compound, &attributes, &directory)?;
    let name = names::of(name.0)?;
    let mut change = Change::default();
    let (file_system, caller, handle) = (&directory.file_system, &directory.caller, &directory.handle);
    let mut special =
        |kind| file_system.make_special(caller, MakeSpecial::new(handle, name, kind, &new), &mut change);
    let made = match node {
        NewNode::BlockDevice(device) => special(SpecialKind::BlockDevice(convert::device_number(device))),
        NewNode::CharacterDevice(device) => {
            special(SpecialKind::CharacterDevice(convert::device_number(device)))
        }
        NewNode::Socket => special(SpecialKind::Socket),
        NewNode::Fifo => special(SpecialKind::Fifo),
        NewNode::Directory => {
            file_system.make_directory(caller, MakeDirectory::new(handle, name, &new), &mut change)
        }
        NewNode::SymbolicLink(target) if target.0.len() > TARGET_MAX => Err(FsError::NameTooLong),
        NewNode::SymbolicLink(target) if target.0.is_empty() => Err(FsError::Invalid),
        NewNode::SymbolicLink(target) => {
            file_system.make_link(caller, MakeLink::new(handle, name, target.0, &new), &mut change)
        }
        NewNode::Other(_) => return Err(Status::BADTYPE.into()),
    };
    let made = made.map_err(|error| in_directory(&directory, error))?;
    let info = convert::change_info(&change, || directory.attributes().ok());
    compound.put(CurrentNode::Exported(directory.beside(made.handle)));
    reply.write(&Success { directory: info, attributes_set });
    Ok(())
}

/// The status of a refusal of what was asked of a directory: a node that is none has a status of its own if it is a
/// symbolic link.
pub fn in_directory(directory: &super::node::ExportedNode<'_>, error: FsError) -> Status {
    match error {
        FsError::NotDirectory => {
            super::lookup::kind(directory).map_or(Status::NOTDIR, super::lookup::not_directory)
        }
        error => convert::status(error),
    }
}
