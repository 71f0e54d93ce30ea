//! CREATE, MKDIR, SYMLINK and MKNOD.

use super::entries::Entries;
use super::node::{Body, Directory, Node, Regular};
use super::number::Number;
use super::permissions::{self, EXECUTE, SET_GROUP, WRITE};
use super::setting::{self, Settings};
use super::tables::Tables;
use super::xattr_map::Xattrs;
use super::{attributes, lookup};
use crate::{Caller, Create, FsError, Name, NewAttributes, Result, SpecialKind};

/// The mode of a new node whose maker names none: it is for its owner alone until its mode is set.
const MODE_UNTIL_TOLD: u32 = 0o600;

/// The longest target of a symbolic link, in bytes (Linux' PATH_MAX without its NUL).
pub(super) const LONGEST_TARGET: usize = 4095;

pub(super) fn create(
    tables: &mut Tables,
    caller: &Caller,
    directory: Number,
    name: Name<'_>,
    how: &Create,
) -> Result<crate::Node> {
    if let Some(existing) = lookup::entry(tables, caller, directory, name)? {
        take_existing(tables, caller, existing, how)?;
        return tables.as_node(existing);
    }
    let (new, verifier) = match how {
        Create::Unchecked(new) | Create::Guarded(new) => (*new, None),
        Create::Exclusive(verifier) => (NewAttributes::default(), Some(*verifier)),
        Create::ExclusiveWith(verifier, new) => (*new, Some(*verifier)),
    };
    let body = Body::Regular(Regular { verifier, ..Regular::default() });
    make(tables, caller, directory, name, body, &new)
}

/// Whether CREATE is content with the node that has the name already.
fn take_existing(tables: &mut Tables, caller: &Caller, number: Number, how: &Create) -> Result<()> {
    let node = tables.node(number)?;
    let Ok(file) = node.regular() else { return Err(FsError::Exists) };
    match how {
        Create::Unchecked(NewAttributes { size: None, .. }) => Ok(()),
        Create::Unchecked(NewAttributes { size: Some(size), .. }) => {
            attributes::set_attributes(tables, caller, number, &NewAttributes::with_size(*size), None)
        }
        Create::Exclusive(verifier) | Create::ExclusiveWith(verifier, _)
            if file.verifier == Some(*verifier) && node.user == caller.user =>
        {
            Ok(())
        }
        Create::Guarded(_) | Create::Exclusive(_) | Create::ExclusiveWith(..) => Err(FsError::Exists),
    }
}

pub(super) fn make_directory(
    tables: &mut Tables,
    caller: &Caller,
    directory: Number,
    name: Name<'_>,
    new: &NewAttributes,
) -> Result<crate::Node> {
    let body = Body::Directory(Directory { parent: directory, entries: Entries::new() });
    make(tables, caller, directory, name, body, &NewAttributes { size: None, ..*new })
}

pub(super) fn make_link(
    tables: &mut Tables,
    caller: &Caller,
    directory: Number,
    name: Name<'_>,
    target: &[u8],
    new: &NewAttributes,
) -> Result<crate::Node> {
    if target.is_empty() || target.contains(&0) {
        return Err(FsError::Invalid);
    }
    if target.len() > LONGEST_TARGET {
        return Err(FsError::NameTooLong);
    }
    let new = NewAttributes { mode: None, size: None, ..*new };
    make(tables, caller, directory, name, Body::Link(target.into()), &new)
}

pub(super) fn make_special(
    tables: &mut Tables,
    caller: &Caller,
    directory: Number,
    name: Name<'_>,
    kind: SpecialKind,
    new: &NewAttributes,
) -> Result<crate::Node> {
    let device = matches!(kind, SpecialKind::BlockDevice(_) | SpecialKind::CharacterDevice(_));
    require_vacancy(tables, caller, directory, name)?;
    if device && !permissions::is_superuser(caller) {
        return Err(FsError::NotPermitted);
    }
    make(tables, caller, directory, name, Body::Special(kind), &NewAttributes { size: None, ..*new })
}

/// Refuses unless the caller may put that name into the directory. A caller that may search gets the error that the name is
/// taken, before write permission is checked.
pub(super) fn require_vacancy(
    tables: &Tables,
    caller: &Caller,
    directory: Number,
    name: Name<'_>,
) -> Result<()> {
    if lookup::entry(tables, caller, directory, name)?.is_some() {
        return Err(FsError::Exists);
    }
    permissions::require(caller, tables.node(directory)?, WRITE | EXECUTE)
}

/// Puts a new node into a directory.
fn make(
    tables: &mut Tables,
    caller: &Caller,
    directory: Number,
    name: Name<'_>,
    body: Body,
    new: &NewAttributes,
) -> Result<crate::Node> {
    require_vacancy(tables, caller, directory, name)?;
    let now = tables.now();
    let parent = tables.node(directory)?;
    let mut node = new_node(caller, parent, body, now);
    let inherited = if node.is_directory() { parent.mode & SET_GROUP } else { 0 };
    let wanted = wanted(caller, &node, new);
    setting::permit(caller, &node, &wanted)?;
    Settings::new(caller, &node, &wanted, now).apply(&mut node);
    node.mode |= inherited;
    let is_directory = node.is_directory();
    tables.require_room(Some(&node), name)?;
    let number = tables.add(node);
    if let Some(size) = new.size {
        attributes::resize(tables, number, size)?;
    }
    tables.put_entry(directory, name, number)?;
    let parent = tables.node_mut(directory)?;
    parent.links += u32::from(is_directory);
    (parent.modified, parent.changed) = (now, now);
    tables.as_node(number)
}

/// A node as the kernel would make it: the caller's own, in the directory's group if that is set-group-id.
fn new_node(caller: &Caller, parent: &Node, body: Body, now: crate::Timestamp) -> Node {
    let links = if matches!(body, Body::Directory(_)) { 2 } else { 1 };
    let mode = if matches!(body, Body::Link(_)) { 0o777 } else { MODE_UNTIL_TOLD };
    let group = if parent.mode & SET_GROUP != 0 { parent.group } else { caller.group };
    let (user, xattrs) = (caller.user, Xattrs::default());
    let (accessed, modified, changed, created) = (now, now, now, now);
    Node { mode, user, group, links, accessed, modified, changed, created, xattrs, body }
}

/// What the maker may ask for: an owner or group only if it is the superuser, else it is left out rather than
/// refused (some clients send the group that they would have chosen).
fn wanted(caller: &Caller, node: &Node, new: &NewAttributes) -> NewAttributes {
    let mode = match node.body {
        Body::Link(_) => None,
        _ => Some(new.mode.unwrap_or(node.mode)),
    };
    if permissions::is_superuser(caller) {
        NewAttributes { mode, ..*new }
    } else {
        NewAttributes { mode, user: None, group: None, ..*new }
    }
}
