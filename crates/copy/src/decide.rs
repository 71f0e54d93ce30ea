//! What becomes of what is at the destination already, and of attributes.

use std::sync::atomic::Ordering;

use howdah_vfs::{Attributes, FileKind, FsError, NewAttributes, Node, SetTime};

use super::engine::{Copier, Worker};
use super::error::{Cause, Step, Trouble};
use super::tally::count;
use super::tasks::{DirectoryJob, Entry};
use super::times::is_near;
use super::{Compare, Existing};

/// The bits of a mode that let a program act as its owner or group.
const SET_ID: u32 = 0o6000;

impl Copier {
    /// Whether what is there stays in place of a copy of `node`. Refused if it can neither stay nor be replaced.
    pub(super) fn keeps(&self, entry: &Entry, node: &Node, there: &Node, worker: &mut Worker) -> Step<bool> {
        if self.may_be_here(entry) && is_same_node(&node.attributes, &there.attributes) {
            return Err(Trouble::source("copy", Cause::SameFile));
        }
        if self.options.existing == Existing::Keep {
            return Ok(true);
        }
        if !may_be_replaced(there.attributes.kind) {
            return self.will_make_way(entry, there, "replace").map(|()| false);
        }
        match self.options.existing {
            Existing::Keep | Existing::Replace => Ok(false),
            Existing::ReplaceOlder => Ok(is_not_older(entry, node, there)),
            Existing::ReplaceChanged => self.is_same(entry, node, there, worker),
        }
    }

    /// Whether the source of an entry may be what is at the destination.
    pub(super) fn may_be_here(&self, entry: &Entry) -> bool {
        entry.parent.source().realm == self.destination.realm
    }

    /// Whether what stays counts as a copy of `node`: what is spared only because it is there, or is newer, may be a stranger.
    pub(super) fn is_copy(&self, entry: &Entry, node: &Node, there: &Node) -> bool {
        let (new, old) = (&node.attributes, &there.attributes);
        match self.options.existing {
            Existing::Replace | Existing::ReplaceChanged => true,
            Existing::Keep | Existing::ReplaceOlder => {
                old.kind == FileKind::Regular
                    && new.size == old.size
                    && is_near(new.modified, old.modified, *entry.parent.item.step)
            }
        }
    }

    /// Whether what has a name, and is replaced only if it is older, stays in place of another name of a copy.
    pub(super) fn keeps_name(&self, entry: &Entry, there: &Node) -> Step<bool> {
        if self.options.existing != Existing::ReplaceOlder {
            return Ok(false);
        }
        let node = entry.node.map_or_else(|| self.find_source(entry), |node| Ok(Some(node)))?;
        Ok(node.is_some_and(|node| is_not_older(entry, &node, there)))
    }

    fn is_same(&self, entry: &Entry, node: &Node, there: &Node, worker: &mut Worker) -> Step<bool> {
        let (new, old) = (&node.attributes, &there.attributes);
        if new.kind != FileKind::Regular || old.kind != FileKind::Regular || new.size != old.size {
            return Ok(false);
        }
        match self.options.compare {
            Compare::SizeAndTime => Ok(is_near(new.modified, old.modified, *entry.parent.item.step)),
            Compare::Content => {
                let (from, to) = (entry.parent.source(), &self.destination);
                let difference = self.first_difference((from, node), (to, there), 0..new.size, worker)?;
                Ok(difference.is_none())
            }
        }
    }

    /// Gives a node at the destination the attributes of its source, as far as they are to be preserved and this caller
    /// may give them.
    pub(super) fn set_attributes(
        &self,
        copy: &Node,
        source: &Attributes,
        size: Option<u64>,
    ) -> Result<Option<Attributes>, FsError> {
        if source.mode & SET_ID != 0 && !self.options.preserve.set_id && self.options.preserve.mode {
            count(&self.tally.left_out_set_id);
        }
        self.give_attributes(copy, self.attributes_for(&copy.attributes, source, size))
    }

    /// The same for a directory. Whose mode is not preserved has that of a new one only if it is new.
    pub(super) fn set_directory_attributes(
        &self,
        directory: &DirectoryJob,
        source: &Attributes,
    ) -> Result<(), FsError> {
        let new = self.attributes_for(&directory.target.attributes, source, None);
        let mode = new.mode.filter(|_| self.options.preserve.mode || directory.fresh);
        self.give_attributes(&directory.target, NewAttributes { mode, ..new })?;
        match &directory.node {
            Some(node) => self.give_extras(directory.source(), node, &directory.target),
            None => Ok(()),
        }
    }

    /// Without the owner, if it is that which is refused. A destination that lets nobody give files away is asked once, not for each
    /// file.
    fn give_attributes(&self, copy: &Node, new: NewAttributes) -> Result<Option<Attributes>, FsError> {
        let gives_away = new.user.is_some_and(|user| user != copy.attributes.user);
        let without_owner = || {
            let mode = new.mode.map(|mode| mode & !SET_ID);
            NewAttributes { user: None, group: None, mode, ..new }
        };
        if gives_away && self.keeps_owners.load(Ordering::Relaxed) {
            return self.give_known_times(copy, without_owner());
        }
        match self.give_known_times(copy, new) {
            Err(refused @ (FsError::NotPermitted | FsError::AccessDenied | FsError::Invalid))
                if new.user.is_some() =>
            {
                self.note("the destination does not let this user give files away: owners are not preserved");
                self.keeps_owners.fetch_or(gives_away && refused == FsError::NotPermitted, Ordering::Relaxed);
                self.give_known_times(copy, without_owner())
            }
            outcome => outcome,
        }
    }

    /// With the nearest times that a destination of 32 bits knows, if it is the times that are refused.
    fn give_known_times(&self, copy: &Node, new: NewAttributes) -> Result<Option<Attributes>, FsError> {
        let nearest = with_times_in_32_bits(new);
        match self.destination.set(&copy.handle, &new) {
            Err(FsError::Invalid) if nearest != new => {
                let after = self.destination.set(&copy.handle, &nearest)?;
                self.note("the destination stores times from 1970 to 2106 only: the nearest time was set");
                Ok(after)
            }
            outcome => outcome,
        }
    }

    fn attributes_for(&self, copy: &Attributes, source: &Attributes, size: Option<u64>) -> NewAttributes {
        let preserve = &self.options.preserve;
        let same_owner = (copy.user, copy.group) == (source.user, source.group);
        let kept_owner = preserve.owner || same_owner;
        let is_directory = source.kind == FileKind::Directory;
        let mode = match preserve.mode {
            // What would act as another owner than it did is not kept.
            true if (kept_owner && preserve.set_id) || is_directory => source.mode,
            true => source.mode & !SET_ID,
            false => source.mode & 0o777 & !self.options.umask,
        };
        let gives_owner = preserve.owner && !same_owner;
        let time = |time| if preserve.times { SetTime::To(time) } else { SetTime::Keep };
        NewAttributes {
            mode: Some(mode),
            user: gives_owner.then_some(source.user),
            group: gives_owner.then_some(source.group),
            size,
            accessed: time(source.accessed),
            modified: time(source.modified),
        }
    }

    /// Corrects ACLs and extended attributes of a file whose data stays.
    pub(super) fn refresh_extras(&self, entry: &Entry, there: &Node, node: &Node) -> Result<(), FsError> {
        match self.options.existing {
            Existing::ReplaceChanged => self.give_extras(entry.parent.source(), node, there),
            _ => Ok(()),
        }
    }

    /// Corrects mode and owner of a file whose data stays.
    pub(super) fn refresh_attributes(&self, there: &Node, source: &Attributes) -> Result<(), FsError> {
        let wanted = self.attributes_for(&there.attributes, source, None);
        let mode = wanted.mode.filter(|&mode| self.options.preserve.mode && mode != there.attributes.mode);
        if self.options.existing != Existing::ReplaceChanged || (mode.is_none() && wanted.user.is_none()) {
            return Ok(());
        }
        self.set_attributes(there, source, None).map(drop)
    }
}

/// Whether the copy of a file may take the place of what is there. Who copies one to `/dev/null` or to a pipe means to write into
/// it: a file in its place would break whatever uses it.
pub(super) fn may_be_replaced(there: FileKind) -> bool {
    matches!(there, FileKind::Regular | FileKind::SymbolicLink)
}

fn is_not_older(entry: &Entry, node: &Node, there: &Node) -> bool {
    let (ours, theirs) = (there.attributes.modified, node.attributes.modified);
    theirs <= ours || is_near(theirs, ours, *entry.parent.item.step)
}

/// Whether two nodes of one realm are one: numbers alone may meet by chance between two servers.
fn is_same_node(one: &Attributes, other: &Attributes) -> bool {
    let facts = |node: &Attributes| (node.file_system, node.file, node.size, node.modified, node.changed);
    facts(one) == facts(other)
}

fn with_times_in_32_bits(new: NewAttributes) -> NewAttributes {
    let nearest = |time| match time {
        SetTime::To(time) => SetTime::To(time.in_32_bits()),
        SetTime::Keep | SetTime::Now => time,
    };
    NewAttributes { accessed: nearest(new.accessed), modified: nearest(new.modified), ..new }
}
