//! Attributes, ACLs and extended attributes of copies.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use howdah_vfs::{Attributes, FileKind, FsError, NewAttributes, Node, SetTime};

use super::Existing;
use super::context::Context;
use super::extras::give_extras;
use super::tally::count;
use super::tasks::{DirectoryJob, Entry};

/// The bits of a mode that let a program act as its owner or group.
const SET_ID: u32 = 0o6000;

/// Gives copies what their sources have beside data.
pub(super) struct Metadata {
    context: Arc<Context>,
    /// The destination let nobody give a file away.
    keeps_owners: AtomicBool,
}

impl Metadata {
    /// Nothing was refused yet.
    pub(super) fn new(context: Arc<Context>) -> Self {
        Self { context, keeps_owners: AtomicBool::new(false) }
    }

    /// Gives a node at the destination the attributes of its source, as far as they are to be preserved and this caller
    /// may give them.
    pub(super) fn set_attributes(
        &self,
        copy: &Node,
        source: &Attributes,
        size: Option<u64>,
    ) -> Result<Option<Attributes>, FsError> {
        if source.mode & SET_ID != 0
            && !self.context.options.preserve.set_id
            && self.context.options.preserve.mode
        {
            count(&self.context.tally.left_out_set_id);
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
        let mode = new.mode.filter(|_| self.context.options.preserve.mode || directory.fresh);
        self.give_attributes(&directory.target, NewAttributes { mode, ..new })?;
        match &directory.node {
            Some(node) => give_extras(&self.context, directory.source(), node, &directory.target),
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
                self.context
                    .note("the destination does not let this user give files away: owners are not preserved");
                self.keeps_owners.fetch_or(gives_away && refused == FsError::NotPermitted, Ordering::Relaxed);
                self.give_known_times(copy, without_owner())
            }
            outcome => outcome,
        }
    }

    /// With the nearest times that a destination of 32 bits knows, if it is the times that are refused.
    fn give_known_times(&self, copy: &Node, new: NewAttributes) -> Result<Option<Attributes>, FsError> {
        let nearest = with_times_in_32_bits(new);
        match self.context.destination.set(&copy.handle, &new) {
            Err(FsError::Invalid) if nearest != new => {
                let after = self.context.destination.set(&copy.handle, &nearest)?;
                self.context
                    .note("the destination stores times from 1970 to 2106 only: the nearest time was set");
                Ok(after)
            }
            outcome => outcome,
        }
    }

    /// The attributes of a new copy, whose owner at the destination is taken to be the caller. None for a file that runs as its owner: only
    /// what the copy is like shows whether it may.
    pub(super) fn of_new_file(&self, source: &Attributes) -> Option<NewAttributes> {
        if source.mode & SET_ID != 0 {
            return None;
        }
        let caller = &self.context.destination.caller;
        let new = self.attributes_for(source, source, None);
        let gives_away = new.user.is_some_and(|user| user != caller.user);
        match gives_away && self.keeps_owners.load(Ordering::Relaxed) {
            true => Some(NewAttributes { user: None, group: None, ..new }),
            false => Some(new),
        }
    }

    fn attributes_for(&self, copy: &Attributes, source: &Attributes, size: Option<u64>) -> NewAttributes {
        let preserve = &self.context.options.preserve;
        let same_owner = (copy.user, copy.group) == (source.user, source.group);
        let kept_owner = preserve.owner || same_owner;
        let is_directory = source.kind == FileKind::Directory;
        let mode = match preserve.mode {
            // What would act as another owner than it did is not kept.
            true if (kept_owner && preserve.set_id) || is_directory => source.mode,
            true => source.mode & !SET_ID,
            false => source.mode & 0o777 & !self.context.options.umask,
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

    /// Corrects what a file has beside its data, which stays.
    pub(super) fn refresh(&self, entry: &Entry, there: &Node, node: &Node) -> Result<(), FsError> {
        self.refresh_attributes(there, &node.attributes)?;
        self.refresh_extras(entry, there, node)
    }

    /// Corrects mode and owner of a file whose data stays.
    fn refresh_attributes(&self, there: &Node, source: &Attributes) -> Result<(), FsError> {
        let wanted = self.attributes_for(&there.attributes, source, None);
        let mode =
            wanted.mode.filter(|&mode| self.context.options.preserve.mode && mode != there.attributes.mode);
        if self.context.options.existing != Existing::ReplaceChanged
            || (mode.is_none() && wanted.user.is_none())
        {
            return Ok(());
        }
        self.set_attributes(there, source, None).map(drop)
    }

    /// Corrects ACLs and extended attributes of a file whose data stays.
    fn refresh_extras(&self, entry: &Entry, there: &Node, node: &Node) -> Result<(), FsError> {
        match self.context.options.existing {
            Existing::ReplaceChanged => give_extras(&self.context, entry.parent.source(), node, there),
            _ => Ok(()),
        }
    }
}

fn with_times_in_32_bits(new: NewAttributes) -> NewAttributes {
    let nearest = |time| match time {
        SetTime::To(time) => SetTime::To(time.in_32_bits()),
        SetTime::Keep | SetTime::Now => time,
    };
    NewAttributes { accessed: nearest(new.accessed), modified: nearest(new.modified), ..new }
}
