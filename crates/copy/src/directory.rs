//! Directories: made when they are met, listed a part at a time, and given their attributes when all in them is done.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use howdah_vfs::{Attributes, Detail, FileKind, FsError, ListDirectory, Node};

use super::engine::{Copier, Worker};
use super::error::{Cause, Doing, Step, Trouble};
use super::finish::MOST_LOOKS;
use super::links::LinkTable;
use super::tally::count;
use super::task::Task;
use super::tasks::{DirectoryJob, Entry, LinkPart};
use super::{mark_in, naming};

/// Entries of a directory that are listed before those are copied: what bounds the memory, together with the depth of
/// the tree. Several answers of a server, so that little of one is thrown away.
const PART: usize = 1024;

/// The mode of a directory until all in it is done: whatever its final mode is, its owner can fill it.
const MODE_UNTIL_DONE: u32 = 0o700;

/// Whether an entry is done with.
pub(super) enum Settled {
    Now,
    /// Somebody else will say so.
    Later,
}

/// As deep as paths that programs can use: each name has a byte and a slash at least (Linux' PATH_MAX).
const DEEPEST: usize = 2048;

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

impl Copier {
    /// Copies what has a name.
    pub(super) fn copy_entry(&self, entry: Entry, worker: &mut Worker) {
        let (parent, name, tries) = (Arc::clone(&entry.parent), entry.name.clone(), entry.tries + 1);
        match self.try_entry(entry, worker) {
            Ok(Settled::Now) => self.release(&parent),
            Ok(Settled::Later) => {}
            // Something else may have the name by now.
            Err(trouble) if trouble.is_gone() && parent.node.is_some() && tries < MOST_LOOKS => {
                let part = LinkPart::Unknown;
                self.stack.push(Task::Entry(Entry { parent, name, node: None, part, tries, looked: None }));
            }
            Err(trouble) => {
                self.report(&parent.error(trouble, &name));
                self.release(&parent);
            }
        }
    }

    fn try_entry(&self, mut entry: Entry, worker: &mut Worker) -> Step<Settled> {
        let node = match entry.node {
            Some(node) => node,
            None => {
                let found = self.find_source(&entry);
                if !matches!(&found, Ok(Some(node)) if is_still(&entry, node)) {
                    // Names that wait for its copy wait for another one's.
                    self.on_not_copied(&entry);
                    entry.part = LinkPart::Unknown;
                }
                match found? {
                    Some(node) => node,
                    None => {
                        self.on_vanished(&entry.path());
                        return Ok(Settled::Now);
                    }
                }
            }
        };
        if self.is_excluded(&entry, node.attributes.kind) {
            self.on_not_copied(&entry);
            count(&self.tally.excluded);
            return Ok(Settled::Now);
        }
        count(&self.tally.found_nodes);
        match node.attributes.kind {
            FileKind::Directory => self.enter(entry, node),
            FileKind::Regular => self.copy_file(entry, node, worker),
            FileKind::SymbolicLink => self.copy_link_or_name(entry, &node),
            _ => self.copy_special(&entry, &node).map(|()| Settled::Now),
        }
    }

    /// Whether a pattern leaves it out. A directory that was named is what patterns are for, and not one of the names in it.
    fn is_excluded(&self, entry: &Entry, kind: FileKind) -> bool {
        let (is_directory, is_named) = (kind == FileKind::Directory, entry.parent.node.is_none());
        if self.options.patterns.is_empty() || (is_named && is_directory) {
            return false;
        }
        self.options.patterns.excludes(&entry.path_in_source(), is_directory)
    }

    pub(super) fn find_source(&self, entry: &Entry) -> Step<Option<Node>> {
        // The top has a node always: only what was listed below it is looked up.
        let Some(directory) = &entry.parent.node else { return Ok(None) };
        entry.parent.source().find(&directory.handle, &entry.name).at_source("look up")
    }

    /// Makes a directory, or takes the one that is there, and puts its listing on the stack.
    fn enter(&self, entry: Entry, node: Node) -> Step<Settled> {
        if !self.options.recursive {
            return Err(Trouble::source("copy", Cause::NotRecursive));
        }
        refuse_circles(&entry, &node)?;
        self.refuse_loops(&entry, &node)?;
        let (target, fresh) = self.make_or_take(&entry, &node)?;
        let is_item = entry.parent.node.is_none();
        let marker = naming::marker(entry.parent.item.id);
        let mark = match is_item {
            true if fresh && self.options.dry_run => None,
            true if fresh => {
                let new = howdah_vfs::NewAttributes::with_mode(0o600);
                Some(self.destination.create_afresh(&target.handle, &marker, new).at_destination("mark")?)
            }
            true => mark_in(&self.destination, &target, entry.parent.item.id),
            false => None,
        };
        mark.iter().for_each(|mark| entry.parent.item.is_marked_by(mark));
        let tries = entry.tries;
        let job = DirectoryJob::below(&entry.parent, entry.name, node, target, fresh, mark.is_some());
        let job = DirectoryJob { tries, ..job };
        let elsewhere = node.attributes.file_system != job.item.file_system;
        let job = Arc::new(job);
        if self.options.one_file_system && elsewhere {
            self.release(&job);
        } else {
            self.listings.fetch_add(1, Ordering::Relaxed);
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
        if self.options.dry_run {
            // Nobody looks into a directory that would be made: another one stands for it.
            return Ok((parent.target, true));
        }
        let mode = match self.options.preserve.mode {
            true => MODE_UNTIL_DONE,
            // Once it is there it keeps its mode, even if this copy is interrupted.
            false => MODE_UNTIL_DONE | (node.attributes.mode & 0o777 & !self.options.umask),
        };
        match self.destination.make_directory(&parent.target.handle, &entry.name, mode) {
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
        let there =
            self.destination.find(&entry.parent.target.handle, &entry.name).at_destination("look up")?;
        match there {
            Some(there) if there.attributes.kind != FileKind::Directory && self.may_make_way(entry) => {
                // For what cannot be copied nothing makes way.
                entry.parent.source().begin_listing(&node.handle).at_source("list")?;
                self.make_way(entry, &there).map(|()| None)
            }
            Some(there) if there.attributes.kind != FileKind::Directory => {
                Err(Trouble::destination("create the directory", Cause::InTheWay(there.attributes.kind)))
            }
            there => Ok(there),
        }
    }

    /// A directory is not copied into itself, nor into one below it: then the destination is met on the way.
    fn refuse_loops(&self, entry: &Entry, node: &Node) -> Step<()> {
        if !self.may_be_here(entry) {
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
            let Ok(above) = self.destination.file_system.parent(&self.destination.caller, &at.handle) else {
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
        match self.list_part(directory) {
            Ok((entries, true)) => {
                self.listings.fetch_sub(1, Ordering::Relaxed);
                self.push_entries(directory, entries);
                self.settle_listing_state();
                self.release(directory);
            }
            Ok((entries, false)) => {
                self.stack.push(Task::List(Arc::clone(directory)));
                self.push_entries(directory, entries);
            }
            Err(trouble) => {
                self.listings.fetch_sub(1, Ordering::Relaxed);
                self.on_unlisted(directory, trouble);
                self.release(directory);
            }
        }
    }

    /// A directory could not be listed. A look-up of its name shows whether it vanished, or another directory has replaced it.
    fn on_unlisted(&self, directory: &Arc<DirectoryJob>, trouble: Trouble) {
        match self.replacement(directory, trouble) {
            Ok(Some(entry)) => *directory.replacement.lock() = Some(entry),
            Ok(None) => self.on_vanished(&directory.own_error(trouble).path),
            Err(trouble) => self.report(&directory.own_error(trouble)),
        }
    }

    /// What has the name of a directory that is gone; nothing if it vanished. Fails if that cannot be looked up: then the source may
    /// have the directory.
    fn replacement(&self, directory: &DirectoryJob, trouble: Trouble) -> Step<Option<Entry>> {
        let Some(parent) = directory.parent.as_ref().filter(|_| trouble.is_gone()) else {
            return Err(trouble);
        };
        // The root was named, and was not listed.
        let Some(above) = &parent.node else { return Err(trouble) };
        let found = parent.source().find(&above.handle, &directory.name).at_source("look up")?;
        let tries = directory.tries + 1;
        if found.is_some() && tries >= MOST_LOOKS {
            return Err(trouble);
        }
        let (parent, name) = (Arc::clone(parent), directory.name.clone());
        let entry = |node| Entry { parent, name, node, part: LinkPart::Unknown, tries, looked: None };
        Ok(found.is_some().then(|| entry(found)))
    }

    fn push_entries(&self, directory: &Arc<DirectoryJob>, entries: Vec<Entry>) {
        directory.open.fetch_add(entries.len(), Ordering::Relaxed);
        self.stack.push_all(entries.into_iter().map(Task::Entry));
    }

    fn list_part(&self, directory: &Arc<DirectoryJob>) -> Step<(Vec<Entry>, bool)> {
        let source = directory.source();
        let Some(node) = &directory.node else { return Ok((Vec::new(), true)) };
        let mut entries = Vec::new();
        let mut cookie = directory.cookie.load(Ordering::Relaxed);
        let (marker, mut mark) = (naming::marker(directory.item.id), None);
        let mut sink = |entry: howdah_vfs::Entry<'_>| {
            if entries.len() == PART {
                return ControlFlow::Break(());
            }
            if entry.name == marker {
                mark = Some(entry.node.copied());
            }
            cookie = entry.cookie;
            if !matches!(entry.name, b"." | b"..") && !naming::is_ours(entry.name) {
                entries.push(Entry {
                    parent: Arc::clone(directory),
                    name: entry.name.to_vec(),
                    node: entry.node.copied(),
                    part: LinkPart::Unknown,
                    tries: 0,
                    looked: None,
                });
            }
            ControlFlow::Continue(())
        };
        let at = directory.cookie.load(Ordering::Relaxed);
        let listing = source.file_system.read_directory(
            &source.caller,
            ListDirectory::new(&node.handle, at, Detail::Nodes),
            &mut sink,
        );
        let end = listing.at_source("list")?.end;
        // A source on this machine may be what a server exports that we copy to.
        let mark = mark.and_then(|seen| seen.or_else(|| mark_in(source, node, directory.item.id)));
        if mark.is_some_and(|mark| directory.item.is_marked_as(&mark)) {
            return Err(Trouble::source("copy the directory", Cause::IntoItself));
        }
        if !end && directory.circle.lock().closes_at(cookie) {
            return Err(Trouble::source("list", Cause::EndlessListing));
        }
        directory.cookie.store(cookie, Ordering::Relaxed);
        Ok((entries, end))
    }

    /// One entry of a directory is settled, or its listing; the last one completes the directory.
    pub(super) fn release(&self, directory: &Arc<DirectoryJob>) {
        let mut directory = Arc::clone(directory);
        while directory.open.fetch_sub(1, Ordering::AcqRel) == 1 {
            let replacement = directory.replacement.lock().take();
            if let Some(entry) = replacement {
                return self.stack.push(Task::Entry(entry));
            }
            if let Err(trouble) = self.complete(&directory) {
                self.report(&directory.own_error(trouble));
            }
            match &directory.parent {
                Some(parent) => directory = Arc::clone(parent),
                None => return,
            }
        }
    }

    /// Gives a directory its attributes, after all that would change its times again.
    fn complete(&self, directory: &DirectoryJob) -> Step<()> {
        let Some(node) = &directory.node else { return Ok(()) };
        let set = match self.options.dry_run {
            true => Ok(()),
            false => self.finish_directory(directory, &node.attributes)?,
        };
        match set {
            // Another user's directory that was there before, as /tmp: it may be filled and not be changed.
            Err(FsError::NotPermitted | FsError::AccessDenied) if !directory.fresh => {
                self.note(
                    "attributes of directories that were there and belong to others are left as they are",
                );
            }
            outcome => outcome.at_destination("set the attributes of")?,
        }
        count(&self.tally.directories);
        if directory.fresh
            && let Some(parent) = &directory.parent
        {
            self.tell(&super::Event::Made { path: &parent.path_of(&directory.name) });
        }
        Ok(())
    }

    /// Takes the mark away, by which the same command finds its directory, and sets the attributes, as far as the destination lets.
    fn finish_directory(&self, directory: &DirectoryJob, source: &Attributes) -> Step<Result<(), FsError>> {
        if directory.marked && !directory.item.has_left_files.load(Ordering::Relaxed) {
            let marker = naming::marker(directory.item.id);
            let removed = self.destination.remove(&directory.target.handle, &marker);
            removed.at_destination("remove the mark of")?;
        }
        Ok(self.set_directory_attributes(directory, source))
    }
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
