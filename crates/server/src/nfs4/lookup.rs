//! LOOKUP: makes the node of a name in the current directory the current one.

use howdah_vfs::{Access, FileKind, FileSystem};
use howdah_wire::nfs4::Status;
use howdah_wire::nfs4::lookup::Arguments;
use howdah_wire::xdr::{Decode, Decoder};

use super::compound::{Compound, Outcome};
use super::names;
use super::node::{CurrentNode, ExportedNode, FlavorAccess};
use super::pseudo::{Behind, PseudoDirectory};
use crate::Reply;

/// Answers it.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, _: &mut Reply) -> Outcome {
    let Arguments { name } = Arguments::decode(arguments)?;
    let found = child(compound, compound.node_of_any_flavor()?, name.0)?;
    compound.put_by_name(found)?;
    Ok(())
}

/// The node of a name in a directory. In one that does not take the flavor of the call nothing is looked up: the directory stands
/// for all names in it, which take the same flavors.
///
/// # Errors
/// There is none, or the caller may not look.
pub fn child<'c>(
    compound: &Compound<'c>,
    directory: &CurrentNode<'c>,
    name: &[u8],
) -> Result<CurrentNode<'c>, Status> {
    match directory {
        CurrentNode::Pseudo(directory) => in_pseudo(compound, *directory, name),
        CurrentNode::Exported(object) => match junction(compound, object, name) {
            Some(export) => compound.behind(export),
            None if object.flavor_access() != FlavorAccess::Full => Ok(within(object)),
            None => in_export(object, name).map(CurrentNode::Exported),
        },
    }
}

/// Some node of an export that does not take the flavor of the call.
fn within<'c>(object: &ExportedNode<'c>) -> CurrentNode<'c> {
    CurrentNode::Exported(object.clone().with_flavor_access(FlavorAccess::None))
}

fn in_pseudo<'c>(
    compound: &Compound<'c>,
    directory: PseudoDirectory,
    name: &[u8],
) -> Result<CurrentNode<'c>, Status> {
    let name = names::of(name)?;
    let behind = compound.tree().find(directory, name.as_bytes()).ok_or(Status::NOENT)?;
    if !compound.is_shown(behind) {
        return Err(Status::NOENT);
    }
    compound.behind(behind)
}

/// The export whose root stands behind a name in the root of another one. Directories that only lead to exports are not
/// looked for there: they would hide what the export has under that name.
pub fn junction(compound: &Compound<'_>, object: &ExportedNode<'_>, name: &[u8]) -> Option<Behind> {
    let behind = compound.tree().find(compound.covered(object)?, name)?;
    (matches!(behind, Behind::Export(..)) && compound.is_shown(behind)).then_some(behind)
}

fn in_export<'c>(directory: &ExportedNode<'c>, name: &[u8]) -> Result<ExportedNode<'c>, Status> {
    let name = match names::of(name) {
        // Of a node that is no directory, the name says nothing.
        Err(_) if kind(directory)? != FileKind::Directory => return Err(not_directory(kind(directory)?)),
        name => name?,
    };
    match directory.file_system.lookup(&directory.caller, &directory.handle, name) {
        Ok(found) => Ok(directory.beside(found.node.handle)),
        Err(howdah_vfs::FsError::NotDirectory) => Err(not_directory(kind(directory)?)),
        Err(error) => Err(super::convert::status(error)),
    }
}

/// A symbolic link in the place of a directory has a status of its own (RFC 8881 18.13.3).
pub fn not_directory(kind: FileKind) -> Status {
    if kind == FileKind::SymbolicLink { Status::SYMLINK } else { Status::NOTDIR }
}

/// The kind of a node.
pub fn kind(object: &ExportedNode<'_>) -> Result<FileKind, Status> {
    object.attributes().map(|attributes| attributes.kind)
}

/// The directory above, which must be searched to be found.
pub fn parent<'c>(compound: &Compound<'c>, node: &CurrentNode<'c>) -> Result<CurrentNode<'c>, Status> {
    let object = match node {
        CurrentNode::Pseudo(directory) => return above(compound, *directory),
        CurrentNode::Exported(object) => object,
    };
    if object.flavor_access() != FlavorAccess::Full {
        return match compound.covered(object) {
            Some(covered) => above(compound, covered),
            None => Ok(within(object)),
        };
    }
    let found = object.file_system.access(&object.caller, &object.handle, Access::LOOKUP);
    let (granted, attributes) = found.map_err(super::convert::status)?;
    if attributes.kind != FileKind::Directory {
        return Err(not_directory(attributes.kind));
    }
    if !granted.contains(Access::LOOKUP) {
        return Err(Status::ACCESS);
    }
    if object.is_root() {
        let covered = compound.tree().covered_by(object.export().id()).ok_or(Status::STALE)?;
        return above(compound, covered);
    }
    let found = object.file_system.parent(&object.caller, &object.handle).map_err(super::convert::status)?;
    Ok(CurrentNode::Exported(object.beside(found.node.handle)))
}

fn above<'c>(compound: &Compound<'c>, directory: PseudoDirectory) -> Result<CurrentNode<'c>, Status> {
    if directory == super::pseudo::PseudoTree::ROOT {
        return Err(Status::NOENT);
    }
    compound.behind(compound.tree().parent(directory))
}
