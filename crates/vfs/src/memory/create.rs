//! CREATE, MKDIR, SYMLINK and MKNOD.

use super::entries::Entries;
use super::node::{Body, Directory, Node, Regular};
use super::number::Number;
use super::permissions::{self, EXECUTE, SET_GROUP, WRITE};
use super::setting::{self, Settings};
use super::tables::Tables;
use super::xattr_map::Xattrs;
use crate::{Caller, Create, FsError, Name, NewAttributes, Result, SpecialKind};

/// The mode of a new node whose maker names none: it is for its owner alone until its mode is set.
const MODE_UNTIL_TOLD: u32 = 0o600;

/// The longest target of a symbolic link, in bytes (Linux' PATH_MAX without its NUL).
pub(super) const LONGEST_TARGET: usize = 4095;

impl Tables {
    pub(super) fn create(
        &mut self,
        caller: &Caller,
        directory: Number,
        name: Name<'_>,
        how: &Create,
    ) -> Result<crate::Node> {
        if let Some(existing) = self.entry(caller, directory, name)? {
            self.take_existing(caller, existing, how)?;
            return self.as_node(existing);
        }
        let (new, verifier) = match how {
            Create::Unchecked(new) | Create::Guarded(new) => (*new, None),
            Create::Exclusive(verifier) => (NewAttributes::default(), Some(*verifier)),
            Create::ExclusiveWith(verifier, new) => (*new, Some(*verifier)),
        };
        let body = Body::Regular(Regular { verifier, ..Regular::default() });
        self.make(caller, directory, name, body, &new)
    }

    /// Whether CREATE is content with the node that has the name already.
    fn take_existing(&mut self, caller: &Caller, number: Number, how: &Create) -> Result<()> {
        let node = self.node(number)?;
        let Ok(file) = node.regular() else { return Err(FsError::Exists) };
        match how {
            Create::Unchecked(NewAttributes { size: None, .. }) => Ok(()),
            Create::Unchecked(NewAttributes { size: Some(size), .. }) => {
                self.set_attributes(caller, number, &NewAttributes::with_size(*size), None)
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
        &mut self,
        caller: &Caller,
        directory: Number,
        name: Name<'_>,
        new: &NewAttributes,
    ) -> Result<crate::Node> {
        let body = Body::Directory(Directory { parent: directory, entries: Entries::new() });
        self.make(caller, directory, name, body, &NewAttributes { size: None, ..*new })
    }

    pub(super) fn make_link(
        &mut self,
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
        self.make(caller, directory, name, Body::Link(target.into()), &new)
    }

    pub(super) fn make_special(
        &mut self,
        caller: &Caller,
        directory: Number,
        name: Name<'_>,
        kind: SpecialKind,
        new: &NewAttributes,
    ) -> Result<crate::Node> {
        let device = matches!(kind, SpecialKind::BlockDevice(_) | SpecialKind::CharacterDevice(_));
        self.require_vacancy(caller, directory, name)?;
        if device && !permissions::is_superuser(caller) {
            return Err(FsError::NotPermitted);
        }
        self.make(caller, directory, name, Body::Special(kind), &NewAttributes { size: None, ..*new })
    }

    /// Refuses unless the caller may put that name into the directory. A caller that may search gets the error that the name is
    /// taken, before write permission is checked.
    pub(super) fn require_vacancy(&self, caller: &Caller, directory: Number, name: Name<'_>) -> Result<()> {
        if self.entry(caller, directory, name)?.is_some() {
            return Err(FsError::Exists);
        }
        permissions::require(caller, self.node(directory)?, WRITE | EXECUTE)
    }

    /// Puts a new node into a directory.
    fn make(
        &mut self,
        caller: &Caller,
        directory: Number,
        name: Name<'_>,
        body: Body,
        new: &NewAttributes,
    ) -> Result<crate::Node> {
        self.require_vacancy(caller, directory, name)?;
        let now = self.now();
        let parent = self.node(directory)?;
        let mut node = new_node(caller, parent, body, now);
        let inherited = if node.is_directory() { parent.mode & SET_GROUP } else { 0 };
        let wanted = wanted(caller, &node, new);
        setting::permit(caller, &node, &wanted)?;
        Settings::new(caller, &node, &wanted, now).apply(&mut node);
        node.mode |= inherited;
        let is_directory = node.is_directory();
        self.require_room(Some(&node), name)?;
        let number = self.add(node);
        if let Some(size) = new.size {
            self.resize(number, size)?;
        }
        self.put_entry(directory, name, number)?;
        let parent = self.node_mut(directory)?;
        parent.links += u32::from(is_directory);
        (parent.modified, parent.changed) = (now, now);
        self.as_node(number)
    }
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
