//! Walk: what has a name is found, and copied by its kind; directories are made when they are met and listed a part at a time.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use howdah_vfs::{FileKind, FsError, Handle, NewAttributes, Node};

use super::context::Context;
use super::directory_end::DirectoryEnd;
use super::error::{Cause, Doing, Step, Trouble};
use super::file::Files;
use super::file_job::MOST_LOOKS;
use super::hard_links::HardLinks;
use super::link_name::LinkNames;
use super::links::LinkTable;
use super::listing::{Listings, list_part, replacement};
use super::look::{find_source, may_be_here};
use super::mirror::Mirror;
use super::node::Nodes;
use super::stack::Stack;
use super::tally::count;
use super::task::Task;
use super::tasks::{DirectoryJob, Entry, LinkPart, Settled};
use super::worker::Worker;
use super::{mark_in, naming};

/// The mode of a directory until all in it is done: whatever its final mode is, its owner can fill it.
const MODE_UNTIL_DONE: u32 = 0o700;

/// As deep as paths that programs can use: each name has a byte and a slash at least (Linux' PATH_MAX).
const DEEPEST: usize = 2048;

/// Walks the trees.
pub(super) struct Walk {
    context: Arc<Context>,
    stack: Arc<Stack<Task>>,
    listings: Arc<Listings>,
    mirror: Arc<Mirror>,
    links: Arc<HardLinks>,
    ends: Arc<DirectoryEnd>,
    files: Files,
    nodes: Nodes,
    link_names: LinkNames,
}

impl Walk {
    /// What is found is copied by these parts.
    pub(super) fn new(
        context: Arc<Context>,
        (stack, listings): (Arc<Stack<Task>>, Arc<Listings>),
        mirror: Arc<Mirror>,
        (links, ends): (Arc<HardLinks>, Arc<DirectoryEnd>),
        (files, nodes, link_names): (Files, Nodes, LinkNames),
    ) -> Self {
        Self { context, stack, listings, mirror, links, ends, files, nodes, link_names }
    }

    /// Copies what has a name.
    pub(super) fn copy_entry(&self, entry: Entry, worker: &mut Worker) {
        let (parent, name, tries) = (Arc::clone(&entry.parent), entry.name.clone(), entry.tries + 1);
        match self.try_entry(entry, worker) {
            Ok(Settled::Now) => self.ends.release(&parent),
            Ok(Settled::Later) => {}
            Ok(Settled::Linked(entry, copy)) => self.link_entry(*entry, &copy, worker),
            // Something else may have the name by now.
            Err(trouble) if trouble.is_gone() && parent.node.is_some() && tries < MOST_LOOKS => {
                let part = LinkPart::Unknown;
                self.stack.push(Task::Entry(Entry { parent, name, node: None, part, tries, looked: None }));
            }
            Err(trouble) => {
                self.context.report(&parent.error(trouble, &name));
                self.ends.release(&parent);
            }
        }
    }

    /// Makes one more name of a copy; where that cannot be, copies the data once more.
    pub(super) fn link_entry(&self, entry: Entry, copy: &Handle, worker: &mut Worker) {
        let parent = Arc::clone(&entry.parent);
        match self.link_names.link(entry, copy) {
            None => self.ends.release(&parent),
            Some(entry) => self.copy_entry(entry, worker),
        }
    }

    fn try_entry(&self, mut entry: Entry, worker: &mut Worker) -> Step<Settled> {
        let node = match entry.node {
            Some(node) => node,
            None => {
                let found = find_source(&entry);
                if !matches!(&found, Ok(Some(node)) if is_still(&entry, node)) {
                    // Names that wait for its copy wait for another one's.
                    self.links.on_not_copied(&entry);
                    entry.part = LinkPart::Unknown;
                }
                match found? {
                    Some(node) => node,
                    None => {
                        self.context.on_vanished(&entry.path());
                        return Ok(Settled::Now);
                    }
                }
            }
        };
        if self.is_excluded(&entry, node.attributes.kind) {
            self.links.on_not_copied(&entry);
            count(&self.context.tally.excluded);
            return Ok(Settled::Now);
        }
        count(&self.context.tally.found_nodes);
        match node.attributes.kind {
            FileKind::Directory => self.enter(entry, node),
            FileKind::Regular => self.files.copy_file(entry, node, worker),
            FileKind::SymbolicLink => self.nodes.copy_link_or_name(entry, &node),
            _ => self.nodes.copy_special(&entry, &node).map(|()| Settled::Now),
        }
    }

    /// Whether a pattern leaves it out. A directory that was named is what patterns are for, and not one of the names in it.
    fn is_excluded(&self, entry: &Entry, kind: FileKind) -> bool {
        let (is_directory, is_named) = (kind == FileKind::Directory, entry.parent.node.is_none());
        if self.context.options.patterns.is_empty() || (is_named && is_directory) {
            return false;
        }
        self.context.options.patterns.excludes(&entry.path_in_source(), is_directory)
    }

    /// Makes a directory, or takes the one that is there, and puts its listing on the stack.
    fn enter(&self, entry: Entry, node: Node) -> Step<Settled> {
        if !self.context.options.recursive {
            return Err(Trouble::source("copy", Cause::NotRecursive));
        }
        refuse_circles(&entry, &node)?;
        self.refuse_loops(&entry, &node)?;
        let (target, fresh) = self.make_or_take(&entry, &node)?;
        let is_item = entry.parent.node.is_none();
        let marker = naming::marker(entry.parent.item.id);
        let mark = match is_item {
            true if fresh && self.context.options.dry_run => None,
            true if fresh => {
                let new = NewAttributes::with_mode(0o600);
                Some(
                    self.context
                        .destination
                        .create_afresh(&target.handle, &marker, new)
                        .at_destination("mark")?,
                )
            }
            true => mark_in(&self.context.destination, &target, entry.parent.item.id),
            false => None,
        };
        mark.iter().for_each(|mark| entry.parent.item.is_marked_by(mark));
        let tries = entry.tries;
        let job = DirectoryJob::below(&entry.parent, entry.name, node, target, fresh, mark.is_some());
        let job = DirectoryJob { tries, ..job };
        let elsewhere = node.attributes.file_system != job.item.file_system;
        let job = Arc::new(job);
        if self.context.options.one_file_system && elsewhere {
            self.ends.release(&job);
        } else {
            self.listings.open(1);
            self.stack.push(Task::List(job));
        }
        Ok(Settled::Later)
    }

    fn make_or_take(&self, entry: &Entry, node: &Node) -> Step<(Node, bool)> {
        let parent = &entry.parent;
        if !parent.fresh
            && let Some(there) = self.directory_there(entry, node)?
        {
            return Ok((there, false));
        }
        if self.context.options.dry_run {
            // Nobody looks into a directory that would be made: another one stands for it.
            return Ok((parent.target, true));
        }
        let mode = match self.context.options.preserve.mode {
            true => MODE_UNTIL_DONE,
            // Once it is there it keeps its mode, even if this copy is interrupted.
            false => MODE_UNTIL_DONE | (node.attributes.mode & 0o777 & !self.context.options.umask),
        };
        match self.context.destination.make_directory(&parent.target.handle, &entry.name, mode) {
            // Somebody was faster; or it was we, and the server was killed before it answered, and asked again.
            Err(FsError::Exists) => match self.directory_there(entry, node)? {
                Some(there) => Ok((there, false)),
                None => Err(FsError::Exists).at_destination("create the directory"),
            },
            made => Ok((made.at_destination("create the directory")?, true)),
        }
    }

    /// The directory that has the name; something else of that name is in the way.
    fn directory_there(&self, entry: &Entry, node: &Node) -> Step<Option<Node>> {
        let there = self
            .context
            .destination
            .find(&entry.parent.target.handle, &entry.name)
            .at_destination("look up")?;
        match there {
            Some(there)
                if there.attributes.kind != FileKind::Directory && self.mirror.may_make_way(entry) =>
            {
                // For what cannot be copied nothing makes way.
                entry.parent.source().begin_listing(&node.handle).at_source("list")?;
                self.mirror.make_way(entry, &there).map(|()| None)
            }
            Some(there) if there.attributes.kind != FileKind::Directory => {
                Err(Trouble::destination("create the directory", Cause::InTheWay(there.attributes.kind)))
            }
            there => Ok(there),
        }
    }

    /// A directory is not copied into itself, nor into one below it: then the destination is met on the way.
    fn refuse_loops(&self, entry: &Entry, node: &Node) -> Step<()> {
        if !may_be_here(&self.context, entry) {
            return Ok(());
        }
        let is_this = |other: &Node| {
            (other.attributes.file_system, other.attributes.file)
                == (node.attributes.file_system, node.attributes.file)
        };
        let mut above = Some(&entry.parent);
        while let Some(directory) = above {
            if is_this(&directory.target) {
                return Err(Trouble::source("copy the directory", Cause::IntoItself));
            }
            above = directory.parent.as_ref();
        }
        match entry.parent.node {
            None => self.refuse_above(entry, &is_this),
            Some(_) => Ok(()),
        }
    }

    /// The same for what is above the destination.
    fn refuse_above(&self, entry: &Entry, is_this: &dyn Fn(&Node) -> bool) -> Step<()> {
        let mut at = entry.parent.target;
        for _ in 0..DEEPEST {
            let Ok(above) =
                self.context.destination.file_system.parent(&self.context.destination.caller, &at.handle)
            else {
                break;
            };
            if above.node.handle == at.handle {
                break;
            }
            at = above.node;
            if is_this(&at) {
                return Err(Trouble::source("copy the directory", Cause::IntoItself));
            }
        }
        Ok(())
    }

    /// Lists the next part of a directory: first comes what is in it, then the rest of the listing.
    pub(super) fn list(&self, directory: &Arc<DirectoryJob>) {
        match list_part(directory) {
            Ok((entries, true)) => {
                self.listings.close();
                self.push_entries(directory, entries);
                self.listings.settle();
                self.ends.release(directory);
            }
            Ok((entries, false)) => {
                self.stack.push(Task::List(Arc::clone(directory)));
                self.push_entries(directory, entries);
            }
            Err(trouble) => {
                self.listings.close();
                self.on_unlisted(directory, trouble);
                self.ends.release(directory);
            }
        }
    }

    /// A directory could not be listed. A look-up of its name shows whether it vanished, or another directory has replaced it.
    fn on_unlisted(&self, directory: &Arc<DirectoryJob>, trouble: Trouble) {
        match replacement(directory, trouble) {
            Ok(Some(entry)) => *directory.replacement.lock() = Some(entry),
            Ok(None) => self.context.on_vanished(&directory.own_error(trouble).path),
            Err(trouble) => self.context.report(&directory.own_error(trouble)),
        }
    }

    fn push_entries(&self, directory: &Arc<DirectoryJob>, entries: Vec<Entry>) {
        directory.open.fetch_add(entries.len(), Ordering::Relaxed);
        self.stack.push_all(entries.into_iter().map(Task::Entry));
    }
}

/// A source that shows a directory within itself, or one without an end, has no copy.
fn refuse_circles(entry: &Entry, node: &Node) -> Step<()> {
    let (mut above, mut depth) = (Some(&entry.parent), 0);
    while let Some(directory) = above {
        if directory.node.is_some_and(|other| other.handle == node.handle) {
            return Err(Trouble::source("copy the directory", Cause::Circle));
        }
        depth += 1;
        above = directory.parent.as_ref();
    }
    if depth > DEEPEST { Err(Trouble::source("copy the directory", Cause::TooDeep)) } else { Ok(()) }
}

/// Whether a name is still of the file whose other names wait for it.
fn is_still(entry: &Entry, node: &Node) -> bool {
    match entry.part {
        LinkPart::First(key) => {
            let is_file = matches!(node.attributes.kind, FileKind::Regular | FileKind::SymbolicLink);
            is_file && LinkTable::<Entry>::key(entry.parent.source(), &node.attributes) == key
        }
        LinkPart::Unknown | LinkPart::Alone => true,
    }
}
