//! Symbolic links and special files.

use std::sync::Arc;

use howdah_vfs::{
    Change, FileKind, FsError, Handle, MakeLink, MakeSpecial, Name, NewAttributes, Node, SpecialKind,
};

use super::context::Context;
use super::error::{Doing, Step};
use super::hard_links::HardLinks;
use super::links::Claim;
use super::look::there;
use super::metadata::Metadata;
use super::partial::MODE_UNTIL_DONE;
use super::placement::Placement;
use super::stack::Stack;
use super::tally::count;
use super::task::Task;
use super::tasks::{Entry, LinkPart, Settled};
use super::times::is_near;
use super::{Event, Existing};

/// Copies what has no data.
pub(super) struct Nodes {
    context: Arc<Context>,
    stack: Arc<Stack<Task>>,
    links: Arc<HardLinks>,
    placement: Arc<Placement>,
    metadata: Arc<Metadata>,
}

impl Nodes {
    /// Of these parts of a copy.
    pub(super) fn new(
        context: Arc<Context>,
        stack: Arc<Stack<Task>>,
        links: Arc<HardLinks>,
        placement: Arc<Placement>,
        metadata: Arc<Metadata>,
    ) -> Self {
        Self { context, stack, links, placement, metadata }
    }

    /// Copies a symbolic link, or makes it another name of a copy: symbolic links have hard links, too.
    pub(super) fn copy_link_or_name(&self, mut entry: Entry, node: &Node) -> Step<Settled> {
        let has_names = node.attributes.links > 1 && self.context.options.preserve.links;
        if has_names && entry.part == LinkPart::Unknown {
            match self.links.claim(entry, node) {
                Claim::Wait => return Ok(Settled::Later),
                Claim::Link(entry, copy) => {
                    self.stack.push(Task::Link(entry, copy));
                    return Ok(Settled::Later);
                }
                Claim::Copy(first) => entry = first,
            }
        }
        let copied = self.copy_symbolic_link(&entry, node);
        let is_first = matches!(entry.part, LinkPart::First(_));
        let copy = (copied.is_ok() && is_first).then(|| self.copy_of_link(&entry, node));
        match copy.flatten() {
            Some(copy) => self.links.on_copied(&entry, copy),
            None => self.links.on_not_copied(&entry),
        }
        copied.map(|()| Settled::Now)
    }

    /// The link that other names of the source's can be linked to. What stays only because it is there may be a stranger.
    fn copy_of_link(&self, entry: &Entry, node: &Node) -> Option<Handle> {
        let found = self.context.destination.find(&entry.parent.target.handle, &entry.name).ok().flatten();
        let keep = self.context.options.existing == Existing::Keep;
        let is_same = |found: &Node| {
            let read = entry.parent.source().read_link(&node.handle);
            read.is_ok_and(|target| self.context.destination.read_link(&found.handle) == Ok(target))
        };
        match found {
            Some(found) if found.attributes.kind == FileKind::SymbolicLink && (!keep || is_same(&found)) => {
                Some(found.handle)
            }
            Some(_) if keep => None,
            // In a dry run another node stands for the link that would be there.
            _ => self.context.options.dry_run.then_some(entry.parent.target.handle),
        }
    }

    /// Makes a symbolic link that points where the source's does.
    fn copy_symbolic_link(&self, entry: &Entry, node: &Node) -> Step<()> {
        let target = entry.parent.source().read_link(&node.handle).at_source("read the link")?;
        let is_same =
            |there: &Node| self.context.destination.read_link(&there.handle).as_ref() == Ok(&target);
        let make = |name: &[u8]| {
            let (to, name) = (&self.context.destination, Name::parse(name).map_err(|error| error.refusal())?);
            let directory = &entry.parent.target.handle;
            let new = NewAttributes::default();
            let made = to.file_system.make_link(
                &to.caller,
                MakeLink::new(directory, name, &target, &new),
                &mut Change::default(),
            )?;
            self.finish_node(&made, node)
        };
        if self.make_node(entry, node, is_same, make)? {
            count(&self.context.tally.symbolic_links);
        }
        Ok(())
    }

    /// Makes a device, socket or pipe.
    pub(super) fn copy_special(&self, entry: &Entry, node: &Node) -> Step<()> {
        let kind = special_kind(node);
        if matches!(kind, SpecialKind::BlockDevice(_) | SpecialKind::CharacterDevice(_))
            && !self.context.options.preserve.devices
        {
            count(&self.context.tally.left_out_devices);
            return Ok(());
        }
        let is_same = |there: &Node| {
            (there.attributes.kind, there.attributes.device) == (node.attributes.kind, node.attributes.device)
        };
        let make = |name: &[u8]| {
            let (to, name) = (&self.context.destination, Name::parse(name).map_err(|error| error.refusal())?);
            let directory = &entry.parent.target.handle;
            let new = NewAttributes::with_mode(MODE_UNTIL_DONE);
            let made = to.file_system.make_special(
                &to.caller,
                MakeSpecial::new(directory, name, kind, &new),
                &mut Change::default(),
            )?;
            self.finish_node(&made, node)
        };
        if self.make_node(entry, node, is_same, make)? {
            count(&self.context.tally.special_files);
        }
        Ok(())
    }

    /// Makes a node unless one that is the same, or that is to stay, is there. Says whether it was made.
    fn make_node(
        &self,
        entry: &Entry,
        node: &Node,
        is_same: impl Fn(&Node) -> bool,
        make: impl Fn(&[u8]) -> Result<(), FsError>,
    ) -> Step<bool> {
        let there = there(&self.context, entry)?;
        if let Some(there) = &there {
            let keep = self.context.options.existing == Existing::Keep;
            if keep || (there.attributes.kind == node.attributes.kind && is_same(there)) {
                if self.context.options.dry_run {
                    return Ok(self.keep(entry));
                }
                self.complete_node(entry, there, node).at_destination("set the times of")?;
                return Ok(self.keep(entry));
            }
            if there.attributes.kind == FileKind::Directory {
                self.placement.will_make_way(entry, there, "create")?;
            }
        }
        match there {
            _ if self.context.options.dry_run => {}
            Some(_) => self.placement.put_in_place(entry, make)?,
            None => match make(&entry.name) {
                // Somebody was faster, and that stays if anything does.
                Err(FsError::Exists) if self.context.options.existing == Existing::Keep => {
                    if !self.complete_own(entry, node, is_same)? {
                        return Ok(self.keep(entry));
                    }
                }
                // As with directories, it may be what a call made whose answer was lost: another takes its place.
                Err(FsError::Exists) => self.placement.put_in_place(entry, make)?,
                made => made.at_destination("create")?,
            },
        }
        self.context.tell(&Event::Made { path: &entry.path() });
        Ok(true)
    }

    /// What is there stays; nothing was made.
    fn keep(&self, entry: &Entry) -> bool {
        count(&self.context.tally.kept);
        self.context.tell(&Event::Kept { path: &entry.path() });
        false
    }

    /// Completes what came to be there since it was looked for, if it is as our own call makes it: then it was that, and its answer was
    /// lost. Says whether it is.
    fn complete_own(&self, entry: &Entry, node: &Node, is_same: impl Fn(&Node) -> bool) -> Step<bool> {
        let found = self.context.destination.find(&entry.parent.target.handle, &entry.name);
        let is_own = |there: &Node| {
            let is_link = node.attributes.kind == FileKind::SymbolicLink;
            there.attributes.kind == node.attributes.kind
                && (is_link || there.attributes.mode == MODE_UNTIL_DONE)
                && is_same(there)
        };
        let Some(made) = found.at_destination("look up")?.filter(is_own) else { return Ok(false) };
        self.finish_node(&made, node).at_destination("set the attributes of")?;
        Ok(true)
    }

    /// A copy that was interrupted may have made the node, and not have come to its times.
    fn complete_node(&self, entry: &Entry, there: &Node, node: &Node) -> Result<(), FsError> {
        let (new, old) = (node.attributes.modified, there.attributes.modified);
        let is_complete = is_near(new, old, *entry.parent.item.step);
        if is_complete
            || !self.context.options.preserve.times
            || self.context.options.existing != Existing::ReplaceChanged
        {
            return Ok(());
        }
        self.finish_node(there, node)
    }

    fn finish_node(&self, made: &Node, node: &Node) -> Result<(), FsError> {
        match node.attributes.kind {
            FileKind::SymbolicLink => self.set_link_attributes(made, node),
            _ => self.metadata.set_attributes(made, &node.attributes, None).map(drop),
        }
    }

    /// Times and owner of a link count for little, and not every server keeps them.
    fn set_link_attributes(&self, made: &Node, node: &Node) -> Result<(), FsError> {
        match self.metadata.set_attributes(made, &node.attributes, None) {
            Err(FsError::NotSupported | FsError::Invalid | FsError::NotPermitted) => {
                self.context.note("the destination keeps no times or owners of symbolic links");
                Ok(())
            }
            outcome => outcome.map(drop),
        }
    }
}

fn special_kind(node: &Node) -> SpecialKind {
    match node.attributes.kind {
        FileKind::BlockDevice => SpecialKind::BlockDevice(node.attributes.device),
        FileKind::CharacterDevice => SpecialKind::CharacterDevice(node.attributes.device),
        FileKind::Socket => SpecialKind::Socket,
        _ => SpecialKind::Fifo,
    }
}
