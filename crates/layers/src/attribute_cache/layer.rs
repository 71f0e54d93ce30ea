//! The layer: each call of the trait, and what is learnt from it.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use howdah_vfs::layer::{Call, Layer, Stopwatch};
use howdah_vfs::{
    Access, AddLink, Attributes, Before, Caller, Change, CommitFile, Committed, CopyRange, CreateFile, Entry,
    FileExtent, FileKind, FileLock, FileSystem, Found, FsError, Handle, ListDirectory, Listing,
    MakeDirectory, MakeLink, MakeSpecial, Name, Node, ReadFile, ReadOutcome, Result, SetAcl, SetAttributes,
    SetXattr, Shown, WriteFile, Written, XattrName,
};
use parking_lot::Mutex;

use super::alone::AloneWatch;
use super::chain::ChainMoment;
use super::delegations::KnownDelegations;
use super::known::Known;
use super::listings::{Leads, ListedEntry};
use super::{AttributeCacheOptions, AttributeCacheReport};
use crate::outcome::may_have_run;

/// Remembers attributes, names and rights, for as long as its options say. What is changed through it is seen through
/// it at once; what others change is seen when what was remembered has aged, or by
/// [`revalidate`](AttributeCache::revalidate), which must be called when a file is opened (close-to-open consistency).
pub struct AttributeCache {
    pub(super) inner: Arc<dyn FileSystem>,
    pub(super) stopwatch: Stopwatch,
    options: AttributeCacheOptions,
    pub(super) known: Arc<Mutex<Known>>,
    delegations: KnownDelegations,
    alone: Option<Arc<AloneWatch>>,
    hits: AtomicU64,
    misses: AtomicU64,
}

impl AttributeCache {
    /// The same files, remembered.
    pub fn around(inner: Arc<dyn FileSystem>, options: AttributeCacheOptions, stopwatch: Stopwatch) -> Self {
        let known = Arc::new(Mutex::new(Known::new(options)));
        let delegations = delegations_of(&inner, &known, options);
        known.lock().set_delegations(delegations.clone());
        let alone = options.alone.then(|| Arc::new(AloneWatch::new(Arc::clone(&stopwatch))));
        let (hits, misses) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { inner, stopwatch, options, known, delegations, alone, hits, misses }
    }

    /// Whether it is still believed that nobody else changes the tree, if it ever was.
    pub fn alone(&self) -> Option<&Arc<AloneWatch>> {
        self.alone.as_ref()
    }

    /// Lets those know who wait for it, if somebody else changed a directory.
    fn note_stranger(&self, known: &Known) {
        if let Some(watch) = &self.alone
            && let Some(path) = known.stranger()
        {
            watch.on_stranger(Shown(if path.is_empty() { b"/" } else { path }).to_string());
        }
    }

    /// A caller changed a directory, or may have.
    fn note_change(&self, known: &Known, caller: &Caller, directory: &Handle) {
        if let Some(watch) = &self.alone {
            self.note_stranger(known);
            watch.on_changed(caller, directory);
        }
    }

    /// All of a directory was listed by calls that started at `since`.
    pub(super) fn compare(&self, directory: &Handle, entries: &[ListedEntry], since: ChainMoment) {
        if self.alone.is_some() {
            let mut known = self.known.lock();
            known.compare(directory, entries, since);
            self.note_stranger(&known);
        }
    }

    /// Whether it believes anything for any time.
    pub fn believes(&self) -> bool {
        self.options.directory_max > Duration::ZERO && self.options.file_max > Duration::ZERO
    }

    /// Whether it can tell where a name leads without asking for the name. That there is no such name may cost a look at the directory.
    pub fn knows_name(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> bool {
        let time = (self.stopwatch)();
        let mut known = self.known.lock();
        match known.name(caller, directory, name.as_bytes(), time) {
            Some(Leads::To(node)) => known.attributes(&node, time).is_some(),
            Some(Leads::Nowhere) => true,
            None => false,
        }
    }

    /// Whether it can tell what a node is like without asking.
    pub fn knows_attributes(&self, node: &Handle) -> bool {
        let time = (self.stopwatch)();
        self.known.lock().attributes(node, time).is_some()
    }

    /// How large a node is, if that is known without asking.
    pub fn known_size(&self, node: &Handle) -> Option<u64> {
        let time = (self.stopwatch)();
        self.known.lock().attributes(node, time).map(|attributes| attributes.size)
    }

    /// Whether it would say that there is no such name by a look at the directory that is not recent.
    fn is_old_absence(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> bool {
        let time = (self.stopwatch)();
        let mut known = self.known.lock();
        known.name(caller, directory, name.as_bytes(), time) == Some(Leads::Nowhere)
            && !known.is_absence_fresh(directory, time)
    }

    /// Whether it can tell what a caller may do without asking.
    pub fn knows_rights(&self, caller: &Caller, node: &Handle, wanted: Access) -> bool {
        let time = (self.stopwatch)();
        self.known.lock().access(caller, node, wanted, time).is_some()
    }

    /// What it answered by itself, and what not.
    pub fn report(&self) -> AttributeCacheReport {
        AttributeCacheReport {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
            delegated_directories: self.delegations.count(),
        }
    }

    /// Counts an answer, if there is one from memory.
    fn counted<T>(&self, known: Option<T>) -> Option<T> {
        let counter = if known.is_some() { &self.hits } else { &self.misses };
        counter.fetch_add(1, Ordering::Relaxed);
        known
    }

    /// Asks for a node's attributes whatever is remembered: what others did before is seen from now on.
    ///
    /// # Errors
    /// As those of GETATTR.
    pub fn revalidate(&self, caller: &Caller, node: &Handle) -> Result<Attributes> {
        let (since, is_directory) = {
            let mut known = self.known.lock();
            (known.moment(), known.is_directory(node))
        };
        let delegated = if is_directory { self.delegations.look(caller, node) } else { None };
        let attributes = delegated
            .unwrap_or_else(|| self.inner.attributes(caller, node))
            .inspect_err(|_| self.known.lock().forget(node))?;
        self.saw(node, &attributes, since);
        Ok(attributes)
    }

    /// The same, and what the caller may do: who opens a file asks for both. Nothing is asked where nobody else changes it.
    ///
    /// # Errors
    /// As those of ACCESS.
    pub fn opened(&self, caller: &Caller, node: &Handle) -> Result<Attributes> {
        if self.alone.is_some() || self.delegations.are_possible() {
            let time = (self.stopwatch)();
            if let Some(known) = self.known.lock().opened(caller, node, time) {
                self.hits.fetch_add(1, Ordering::Relaxed);
                return Ok(known);
            }
            if self.alone.is_some() {
                self.misses.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(self.ask_for_rights(caller, node)?.1)
    }

    /// Asks for all rights in one question: the next one is for others.
    fn ask_for_rights(&self, caller: &Caller, node: &Handle) -> Result<(Access, Attributes)> {
        let since = self.known.lock().moment();
        let ask = |inner: &dyn FileSystem| inner.access(caller, node, Access::ALL);
        let (granted, attributes) = self.look(node, ask, |(_, seen)| Some(*seen))?;
        self.known.lock().granted(caller, (node, &attributes), since, (Access::ALL, granted));
        Ok((granted, attributes))
    }

    /// Asks where a name leads whatever is remembered.
    ///
    /// # Errors
    /// As those of LOOKUP.
    pub fn lookup_now(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Found> {
        let time = (self.stopwatch)();
        let (since, epoch) = {
            let mut known = self.known.lock();
            (known.moment(), known.epoch_of(directory, time))
        };
        let found = self.inner.lookup(caller, directory, name);
        let mut known = self.known.lock();
        let found = found.inspect_err(|error| match error {
            FsError::NotFound => {
                known.not_found(caller, directory, name.as_bytes(), (since, epoch), time);
            }
            _ => known.forget_name(directory, name.as_bytes()),
        })?;
        // Without the directory's attributes nobody would see that it changed; a change of ours meanwhile may have been
        // to this very name.
        if let Some(attributes) = &found.directory
            && known.is_unchanged(directory, since)
            && known.saw(directory, attributes, since, time)
        {
            known.found(caller, directory, name.as_bytes(), found.node.handle);
        }
        known.saw(&found.node.handle, &found.node.attributes, since, time);
        known.cover(directory, since, [found.node.handle]);
        self.note_stranger(&known);
        Ok(found)
    }

    pub(super) fn saw(&self, node: &Handle, attributes: &Attributes, since: ChainMoment) -> bool {
        let time = (self.stopwatch)();
        let mut known = self.known.lock();
        let is_believed = known.saw(node, attributes, since, time);
        self.note_stranger(&known);
        is_believed
    }

    /// Makes a call that looks at a node.
    fn look<T>(
        &self,
        node: &Handle,
        run: impl FnOnce(&dyn FileSystem) -> Result<T>,
        attributes: impl FnOnce(&T) -> Option<Attributes>,
    ) -> Result<T> {
        let since = self.known.lock().moment();
        let answer = run(&*self.inner).inspect_err(|_| self.known.lock().forget(node))?;
        if let Some(attributes) = attributes(&answer) {
            self.saw(node, &attributes, since);
        }
        Ok(answer)
    }

    /// Makes a call that changes a node.
    fn change<T>(
        &self,
        node: &Handle,
        change: &mut Change,
        run: impl FnOnce(&dyn FileSystem, &mut Change) -> Result<T>,
    ) -> Result<T> {
        let since = self.known.lock().begin(node, None);
        let answer = run(&*self.inner, change);
        let time = (self.stopwatch)();
        let mut known = self.known.lock();
        known.changed(node, change, since, time);
        self.note_stranger(&known);
        answer
    }

    /// Makes a call that puts a node into a directory under a name.
    fn make(
        &self,
        caller: &Caller,
        (directory, name): (&Handle, Name<'_>),
        change: &mut Change,
        run: impl FnOnce(&dyn FileSystem, &mut Change) -> Result<Node>,
    ) -> Result<Node> {
        let since = self.known.lock().begin(directory, Some(name.as_bytes()));
        let made = run(&*self.inner, change);
        let time = (self.stopwatch)();
        let mut known = self.known.lock();
        let is_known = known.changed(directory, &of_directory(change), since, time);
        self.note_change(&known, caller, directory);
        let node = made.inspect_err(|_| known.lost_track(directory, name.as_bytes()))?;
        // The node may have been there before, as another one than was remembered: its change is told by `changed`.
        let change = Change { before: None, after: Some(node.attributes) };
        let is_as_made = known.changed(&node.handle, &change, since, time);
        // In the same critical section: nobody else here can have put something into it.
        if is_as_made && node.attributes.kind == FileKind::Directory {
            known.made_directory(caller, node.handle);
        }
        match is_known {
            true => known.made(caller, (directory, name.as_bytes()), node.handle),
            false => known.lost_track(directory, name.as_bytes()),
        }
        Ok(node)
    }

    /// Makes a call that takes a name away from a node, and takes note of that by `taken`.
    fn take(
        &self,
        caller: &Caller,
        (directory, name): (&Handle, Name<'_>),
        change: &mut Change,
        run: impl FnOnce(&dyn FileSystem, &mut Change) -> Result<()>,
        taken: impl FnOnce(&mut Known, &Handle, &[u8]),
    ) -> Result<()> {
        let (since, taking) = {
            let mut known = self.known.lock();
            let since = known.begin(directory, Some(name.as_bytes()));
            (since, known.begin_taking(since, directory, name.as_bytes()))
        };
        let answer = run(&*self.inner, change);
        let time = (self.stopwatch)();
        let mut known = self.known.lock();
        let is_known = known.changed(directory, &of_directory(change), since, time);
        known.end_taking(taking, since, time);
        self.note_change(&known, caller, directory);
        if may_have_run(&answer) {
            taken(&mut known, directory, name.as_bytes());
        }
        if answer.is_err() || !is_known {
            known.lost_track(directory, name.as_bytes());
        }
        answer
    }
}

impl Layer for AttributeCache {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&*self.inner)
    }

    fn attributes(&self, caller: &Caller, node: &Handle) -> Result<Attributes> {
        let time = (self.stopwatch)();
        let known = self.known.lock().attributes(node, time);
        self.counted(known).map_or_else(|| self.revalidate(caller, node), Ok)
    }

    fn set_attributes(&self, caller: &Caller, set: SetAttributes<'_>, change: &mut Change) -> Result<()> {
        self.change(set.node, change, |inner, change| inner.set_attributes(caller, set, change))
    }

    fn lookup(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Found> {
        if self.is_old_absence(caller, directory, name) {
            // Another host may have made it. If the directory changed, its names are not believed any more.
            self.revalidate(caller, directory)?;
        }
        let time = (self.stopwatch)();
        let answer = {
            let mut known = self.known.lock();
            match known.name(caller, directory, name.as_bytes(), time) {
                Some(Leads::Nowhere) => Some(Err(FsError::NotFound)),
                Some(Leads::To(handle)) => known.attributes(&handle, time).map(|attributes| {
                    let node = Node { handle, attributes };
                    Ok(Found { node, directory: known.attributes(directory, time) })
                }),
                None => None,
            }
        };
        self.counted(answer).unwrap_or_else(|| self.lookup_now(caller, directory, name))
    }

    fn access(&self, caller: &Caller, node: &Handle, wanted: Access) -> Result<(Access, Attributes)> {
        let time = (self.stopwatch)();
        let known = self.known.lock().access(caller, node, wanted, time);
        if let Some(known) = self.counted(known) {
            return Ok(known);
        }
        let (granted, attributes) = self.ask_for_rights(caller, node)?;
        Ok((granted & wanted, attributes))
    }

    fn read_link(&self, caller: &Caller, node: &Handle, target: &mut Vec<u8>) -> Result<Attributes> {
        self.look(node, |inner| inner.read_link(caller, node, target), |seen| Some(*seen))
    }

    fn read(&self, caller: &Caller, read: ReadFile<'_>, buffer: &mut Vec<u8>) -> Result<ReadOutcome> {
        let seen = |outcome: &ReadOutcome| Some(outcome.attributes);
        self.look(read.node, |inner| inner.read(caller, read, buffer), seen)
    }

    fn write(&self, caller: &Caller, write: WriteFile<'_>, change: &mut Change) -> Result<Written> {
        self.change(write.node, change, |inner, change| inner.write(caller, write, change))
    }

    fn create(&self, caller: &Caller, create: CreateFile<'_>, change: &mut Change) -> Result<Node> {
        self.make(caller, (create.directory, create.name), change, |inner, change| {
            inner.create(caller, create, change)
        })
    }

    fn make_directory(&self, caller: &Caller, make: MakeDirectory<'_>, change: &mut Change) -> Result<Node> {
        self.make(caller, (make.directory, make.name), change, |inner, change| {
            inner.make_directory(caller, make, change)
        })
    }

    fn make_link(&self, caller: &Caller, make: MakeLink<'_>, change: &mut Change) -> Result<Node> {
        self.make(caller, (make.directory, make.name), change, |inner, change| {
            inner.make_link(caller, make, change)
        })
    }

    fn make_special(&self, caller: &Caller, make: MakeSpecial<'_>, change: &mut Change) -> Result<Node> {
        self.make(caller, (make.directory, make.name), change, |inner, change| {
            inner.make_special(caller, make, change)
        })
    }

    fn remove(&self, caller: &Caller, directory: &Handle, name: Name<'_>, change: &mut Change) -> Result<()> {
        let run = |inner: &dyn FileSystem, change: &mut Change| inner.remove(caller, directory, name, change);
        self.take(caller, (directory, name), change, run, Known::removed)
    }

    fn remove_directory(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        change: &mut Change,
    ) -> Result<()> {
        let run = |inner: &dyn FileSystem, change: &mut Change| {
            inner.remove_directory(caller, directory, name, change)
        };
        self.take(caller, (directory, name), change, run, Known::removed_directory)
    }

    fn rename(
        &self,
        caller: &Caller,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
        changes: (&mut Change, &mut Change),
    ) -> Result<()> {
        let (left, entered) = changes;
        let (old, new) = (from.1.as_bytes(), to.1.as_bytes());
        let (since, taking) = {
            let mut known = self.known.lock();
            let since = known.begin(from.0, Some(old));
            known.begin_at(since, to.0, Some(new));
            (since, known.begin_taking(since, from.0, old))
        };
        let answer = self.inner.rename(caller, from, to, (left, entered));
        let time = (self.stopwatch)();
        let mut known = self.known.lock();
        let mut is_known = known.changed(from.0, &of_directory(left), since, time);
        if from.0 != to.0 {
            is_known &= known.changed(to.0, &of_directory(entered), since, time);
            self.note_change(&known, caller, to.0);
        }
        known.end_taking(taking, since, time);
        self.note_change(&known, caller, from.0);
        let mut node = None;
        if may_have_run(&answer) {
            node = known.renamed(from.0, old);
            // Of the node that is replaced nobody says whether it lives on.
            known.replaced(to.0, new);
        }
        // Between two names of one file nothing happens, and both stay.
        let is_done = left.before != left.after.as_ref().map(Before::from);
        match node {
            _ if !is_known || !is_done || answer.is_err() => {
                known.lost_track(from.0, old);
                known.lost_track(to.0, new);
            }
            Some(node) => known.made(caller, (to.0, new), node),
            None => known.came(to.0, new),
        }
        answer
    }

    fn link(&self, caller: &Caller, link: AddLink<'_>, change: &mut Change) -> Result<Attributes> {
        let AddLink { node, directory, name } = link;
        let since = self.known.lock().begin(directory, Some(name.as_bytes()));
        let answer = self.inner.link(caller, link, change);
        let time = (self.stopwatch)();
        let mut known = self.known.lock();
        let is_known = known.changed(directory, &of_directory(change), since, time);
        self.note_change(&known, caller, directory);
        known.changed(node, &Change { before: None, after: answer.as_ref().ok().copied() }, since, time);
        match is_known && answer.is_ok() {
            true => known.made(caller, (directory, name.as_bytes()), *node),
            false => known.lost_track(directory, name.as_bytes()),
        }
        answer
    }

    fn read_directory(
        &self,
        caller: &Caller,
        ListDirectory { directory, cookie, detail }: ListDirectory<'_>,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<Listing> {
        let mut next = cookie;
        let known = self.give_known(caller, directory, &mut next, detail, sink);
        match self.counted(known) {
            Some(listing) => Ok(listing),
            None if next == 0 => self.list(caller, directory, detail, sink),
            None => self.list_on(caller, directory, next, detail, sink),
        }
    }

    fn commit(&self, caller: &Caller, commit: CommitFile<'_>, change: &mut Change) -> Result<Committed> {
        self.change(commit.node, change, |inner, change| inner.commit(caller, commit, change))
    }

    fn allocate(&self, caller: &Caller, extent: FileExtent<'_>, change: &mut Change) -> Result<()> {
        self.change(extent.node, change, |inner, change| {
            inner.require_ranges()?.allocate(caller, extent, change)
        })
    }

    fn deallocate(&self, caller: &Caller, extent: FileExtent<'_>, change: &mut Change) -> Result<()> {
        self.change(extent.node, change, |inner, change| {
            inner.require_ranges()?.deallocate(caller, extent, change)
        })
    }

    fn copy_range(&self, caller: &Caller, copy: CopyRange<'_>, change: &mut Change) -> Result<Written> {
        self.change(copy.to.0, change, |inner, change| {
            inner.require_ranges()?.copy_range(caller, copy, change)
        })
    }

    fn clone_range(&self, caller: &Caller, copy: CopyRange<'_>, change: &mut Change) -> Result<()> {
        self.change(copy.to.0, change, |inner, change| {
            inner.require_ranges()?.clone_range(caller, copy, change)
        })
    }

    /// The mode is another one, and so may be what callers may do.
    fn set_acl(&self, caller: &Caller, set: SetAcl<'_>, change: &mut Change) -> Result<()> {
        let outcome =
            self.change(set.node, change, |inner, change| inner.require_acls()?.set_acl(caller, set, change));
        self.known.lock().forget(set.node);
        outcome
    }

    fn set_xattr(&self, caller: &Caller, set: SetXattr<'_>, change: &mut Change) -> Result<()> {
        self.change(set.node, change, |inner, change| inner.require_xattrs()?.set_xattr(caller, set, change))
    }

    fn remove_xattr(
        &self,
        caller: &Caller,
        node: &Handle,
        name: XattrName<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.change(node, change, |inner, change| {
            inner.require_xattrs()?.remove_xattr(caller, node, name, change)
        })
    }

    /// What others wrote before they unlocked is asked for again.
    fn lock_range(
        &self,
        caller: &Caller,
        node: &Handle,
        owner: u64,
        lock: FileLock,
        waits: bool,
    ) -> Result<Option<FileLock>> {
        let conflict = self.inner.require_file_locks()?.lock_range(caller, node, owner, lock, waits)?;
        if conflict.is_none() {
            self.known.lock().forget(node);
        }
        Ok(conflict)
    }
}

/// Delegations of directories, and who forgets what is not delegated any more. Where nothing is remembered, or all for ever, none is
/// asked for.
fn delegations_of(
    inner: &Arc<dyn FileSystem>,
    known: &Arc<Mutex<Known>>,
    options: AttributeCacheOptions,
) -> KnownDelegations {
    if options.alone || options.directory_max.is_zero() {
        return KnownDelegations::default();
    }
    let known = Arc::downgrade(known);
    KnownDelegations::of(
        inner,
        Arc::new(move |loss| {
            if let Some(known) = known.upgrade() {
                known.lock().on_delegation_lost(loss);
            }
        }),
    )
}

/// What a call told of the directory that it was to change. Of what is none, layers below may know more than the server.
fn of_directory(change: &Change) -> Change {
    let is_none = change.after.is_some_and(|after| after.kind != FileKind::Directory);
    if is_none { Change::default() } else { *change }
}
