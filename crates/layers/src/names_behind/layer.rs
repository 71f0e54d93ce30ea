//! The layer: each call of the trait, answered here where there are grounds, else passed on when all that it depends on is safe.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::Bytes;
use howdah_store::journal::{DiskJournal, ReplayedJournal};
use howdah_vfs::layer::{Call, Layer, Stopwatch};
use howdah_vfs::{
    Access, Acl, AclKind, AddLink, Attributes, Caller, Change, CommitFile, Committed, Consistency, Content,
    CopyRange, Create, CreateFile, Entry, FileExtent, FileKind, FileLocks, FileSystem, Found, FsError,
    Handle, KeptOpen, Limits, ListDirectory, Listing, MakeDirectory, MakeLink, MakeSpecial, Name,
    NewAttributes, Node, ReadFile, ReadOutcome, Result, SeekOutcome, SeekTarget, SetAcl, SetAttributes,
    SetXattr, Stability, Statistics, WriteFile, Written, XattrName,
};

use super::change::RefusedLater;
use super::grounds::granted;
use super::keeping::{KeptChanges, decoded};
use super::listings::PendingListings;
use super::log::Log;
use super::order::TouchedPlace;
use super::outgoing::OutgoingRecords;
use super::sender::Sender;
use super::shared::{BehindShared, NodeSide};
use super::tree::{MadeNode, Patch};
use super::vouched::VouchedRights;
use super::{BehindOptions, BehindReport};

/// So deep are trees at most.
const DEPTH_MAX: usize = 4096;

/// What is to be safe on the server.
#[derive(Debug, Clone, Copy)]
pub enum Settle<'s> {
    /// A node: its data, its attributes, and the names that lead to it, as far as they were made here.
    Node(&'s Handle),
    /// A directory: the same, and all names in it with the files that have them.
    Directory(&'s Handle),
    /// Everything.
    All,
}

/// Changes of names and small files are answered at once, and reach the server a little later.
///
/// Making goes out first, parents before children; renaming, linking, removing and cutting go out when all that the same user
/// made before is safe. What the server refuses then is reported by the next call on the file or its directory, and kept.
pub struct NamesBehind {
    pub(super) shared: Arc<BehindShared>,
    pub(super) listings: PendingListings,
    pub(super) vouched: VouchedRights,
    /// Of all that is written here: what a server loses is written again, or reported.
    verifier: [u8; 8],
    _sender: Sender,
}

impl NamesBehind {
    /// The same files. `key` must be another one for each layer: handles of one mean nothing to another.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn around(
        inner: Arc<dyn FileSystem>,
        consistency: Arc<dyn Consistency>,
        options: BehindOptions,
        key: [u8; 16],
        stopwatch: Stopwatch,
    ) -> io::Result<Self> {
        Self::start((inner, consistency), options, key, (Log::new(options, key), None), stopwatch)
    }

    /// The same, with a journal: what is in it is seen at once, and is sent.
    ///
    /// # Errors
    /// A newer version wrote the journal, or what was refused earlier cannot be read; the system gives no thread.
    pub fn with_journal(
        inner: Arc<dyn FileSystem>,
        consistency: Arc<dyn Consistency>,
        options: BehindOptions,
        key: [u8; 16],
        (journal, replayed): (DiskJournal, ReplayedJournal),
        stopwatch: Stopwatch,
    ) -> io::Result<Self> {
        let newer = |kind| {
            io::Error::other(format!("a newer version of howdah wrote this journal (record of kind {kind})"))
        };
        let records = decoded(&replayed.records).map_err(newer)?;
        let mut log = Log::new(options, key);
        log.outgoing = Some(OutgoingRecords::default());
        log.restore(records, replayed.highest_change);
        let kept = KeptChanges::new(journal).map_err(io::Error::other)?;
        Self::start((inner, consistency), options, key, (log, Some(kept)), stopwatch)
    }

    fn start(
        below: (Arc<dyn FileSystem>, Arc<dyn Consistency>),
        options: BehindOptions,
        key: [u8; 16],
        log: (Log, Option<KeptChanges>),
        stopwatch: Stopwatch,
    ) -> io::Result<Self> {
        let shared = Arc::new(BehindShared::new(below, options, log, stopwatch));
        let sender = Sender::start(&shared)?;
        let verifier = [key[0], key[1], key[2], key[3], key[4], key[5], key[6], key[7]];
        let random = u64::from_be_bytes(key[8..].try_into().expect("half of it"));
        let (listings, vouched) = (PendingListings::new(random), Default::default());
        Ok(Self { shared, listings, vouched, verifier, _sender: sender })
    }

    /// What waits, and what became of the rest.
    pub fn report(&self) -> BehindReport {
        self.shared.report()
    }

    /// What the server refused after programs were answered.
    pub fn refused(&self) -> Vec<RefusedLater> {
        self.shared.refused()
    }

    /// Waits until all that was changed before is over: safe on the server, or refused there.
    pub fn settle_all(&self) {
        self.shared.settle_all();
    }

    /// Waits until something is safe on the server.
    ///
    /// # Errors
    /// A change of it was refused: reported once.
    pub fn settle(&self, caller: &Caller, what: Settle<'_>) -> Result<()> {
        let outcome = match what {
            Settle::All => {
                self.settle_all();
                self.shared.log.lock().take_refusal()
            }
            Settle::Node(node) => self.settle_node(caller, node),
            Settle::Directory(directory) => {
                self.shared.settle_directory(directory);
                self.shared.take_failure(directory)
            }
        };
        // What is safe must not be sent again: it may be changed on the server by then.
        self.shared.sync_journal();
        if self.shared.has_ended() { Err(FsError::Io) } else { outcome }
    }

    /// Sends no more. Calls that wait for the server fail; what a journal has is sent by the next layer with that journal.
    pub fn end(&self) {
        self.shared.end();
    }

    fn settle_node(&self, caller: &Caller, node: &Handle) -> Result<()> {
        self.shared.settle_with_names(node);
        let failure = self.shared.take_failure(node);
        let side = self.side(node);
        // An earlier failure is reported, and its data is sent all the same.
        let closed = match &side {
            Ok(NodeSide::There(real)) => self.shared.closed(caller, node, real),
            Ok(NodeSide::Here(_)) | Err(_) => Ok(()),
        };
        failure?;
        closed?;
        if let NodeSide::There(_) = side? {
            self.shared.log.lock().is_whole_again(node);
        }
        Ok(())
    }

    pub(super) fn verifier(&self) -> [u8; 8] {
        self.verifier
    }

    pub(super) fn side(&self, shown: &Handle) -> Result<NodeSide> {
        self.shared.side(&self.shared.log.lock(), shown)
    }

    /// Passes a call on that changes a node, when nothing of it is pending. As with all that is passed on, the journal's disk knows what came
    /// before: it is not sent again after a power cut, over what the server has by then.
    fn through<T>(
        &self,
        caller: &Caller,
        node: &Handle,
        change: &mut Change,
        run: impl FnOnce(&dyn FileSystem, &Handle, &mut Change) -> Result<T>,
    ) -> Result<T> {
        self.shared.settle(&[node], &[]);
        self.shared.sync_journal();
        let (since, real) = (self.shared.since(), self.shared.real(node)?);
        let outcome = run(&*self.shared.inner, &real, change);
        self.present((caller, since), node, change);
        outcome
    }

    /// Passes a call on that looks at a node, when nothing of it is pending.
    fn look<T>(&self, node: &Handle, run: impl FnOnce(&dyn FileSystem, &Handle) -> Result<T>) -> Result<T> {
        self.shared.settle(&[node], &[]);
        run(&*self.shared.inner, &self.shared.real(node)?)
    }

    /// Programs see no more of a change than of the node.
    pub(super) fn present(&self, (caller, since): (&Caller, u64), node: &Handle, change: &mut Change) {
        if let Some(after) = &mut change.after {
            *after = self.shared.presented(caller, since, node, *after);
        }
    }

    pub(super) fn attributes_of(&self, caller: &Caller, shown: &Handle) -> Result<Attributes> {
        self.shared.attributes(caller, shown)
    }

    /// Waits until attributes are set that are pending of a node which the server has.
    pub(super) fn settle_attributes(&self, shown: &Handle, counts: impl Fn(&NewAttributes) -> bool) {
        let is_pending = {
            let log = self.shared.log.lock();
            let known = log.tree.find(shown).and_then(|id| log.tree.get(id));
            let counts = |patch: &Patch| matches!(patch, Patch::Set(new, _) if counts(new));
            known.is_some_and(|known| known.patches.iter().any(|(_, patch)| counts(patch)))
        };
        if is_pending {
            self.shared.settle(&[shown], &[]);
        }
    }

    /// Takes data for a file that is not on the server yet. `None`: it is there.
    fn hold(&self, caller: &Caller, write: &WriteFile<'_>, data: &Bytes) -> Result<Option<Written>> {
        let shared = &self.shared;
        let mut log = shared.log.lock();
        loop {
            let NodeSide::Here(id) = shared.side(&log, write.node)? else { return Ok(None) };
            let known = log.tree.get_mut(id).ok_or(FsError::Stale)?;
            if let Some(error) = known.refused() {
                return Err(error);
            }
            if let Some(failure) = known.failure.take() {
                return Err(failure);
            }
            let coming = known.coming.as_ref().ok_or(FsError::Stale)?;
            let is_maker = coming.caller.user == caller.user;
            let writes = granted(caller, &coming.attributes, is_maker).contains(Access::MODIFY);
            if coming.what != MadeNode::File {
                return Err(FsError::Invalid);
            }
            let make = coming.make;
            if !writes && !is_maker {
                // The server may know better.
                self.shared.wait_for(&mut log, &[make]);
                return Ok(None);
            }
            if log.write(shared.now(), id, write.offset, data) {
                return Ok(Some(self.written(data.len())));
            }
            if shared.has_ended() {
                return Err(FsError::Io);
            }
            log.let_go(make);
            shared.work.notify_one();
            shared.over.wait(&mut log);
        }
    }

    fn written(&self, count: usize) -> Written {
        Written { count, stability: Stability::Unstable, verifier: self.verifier }
    }
}

impl Layer for NamesBehind {
    fn inner(&self) -> &dyn FileSystem {
        &*self.shared.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&*self.shared.inner)
    }

    fn keep_open(&self, file: &Handle) -> Option<KeptOpen> {
        self.shared.inner.keep_open(&self.shared.real(file).ok()?)
    }

    /// Files that are not on the server yet cannot be locked there.
    fn file_locks(&self) -> Option<&dyn FileLocks> {
        None
    }

    fn is_junction(&self, directory: &Handle) -> bool {
        matches!(self.side(directory), Ok(NodeSide::There(real)) if self.shared.inner.is_junction(&real))
    }

    fn has_default_acl(&self, directory: &Handle) -> bool {
        matches!(self.side(directory), Ok(NodeSide::There(real)) if self.shared.inner.has_default_acl(&real))
    }

    fn attributes(&self, caller: &Caller, node: &Handle) -> Result<Attributes> {
        self.attributes_of(caller, node)
    }

    fn set_attributes(&self, caller: &Caller, set: SetAttributes<'_>, change: &mut Change) -> Result<()> {
        self.vouched.forget(set.node);
        if let Some(outcome) = self.set_behind(caller, &set) {
            change.after = self.attributes_of(caller, set.node).ok();
            return outcome;
        }
        if set.new.size.is_some() {
            self.shared.settle_user(caller.user);
        }
        self.through(caller, set.node, change, |inner, real, change| {
            let guard = set.guard.map(|guard| self.shared.log.lock().guard_there(set.node, guard));
            inner.set_attributes(caller, SetAttributes::new(real, set.new, guard), change)
        })
    }

    fn lookup(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Found> {
        let real = match self.look_up_here(caller, directory, name)? {
            Ok(found) => return Ok(found),
            Err(real) => real,
        };
        let since = self.shared.since();
        let found = self.shared.inner.lookup(caller, &real, name)?;
        if found.node.attributes.kind == FileKind::Directory {
            self.shared.log.lock().found_directory(directory, name.as_bytes(), found.node.handle);
        }
        let shown =
            found.directory.map(|attributes| self.shared.presented(caller, since, directory, attributes));
        Ok(Found { node: self.shared.shown(caller, since, found.node), directory: shown })
    }

    fn parent(&self, caller: &Caller, directory: &Handle) -> Result<Found> {
        let above = {
            let log = self.shared.log.lock();
            let known = log.tree.find(directory).and_then(|id| log.tree.get(id));
            let place = known.and_then(|known| known.place.as_ref());
            place.and_then(|(above, _)| log.tree.get(*above)).map(|above| above.shown)
        };
        if let Some(handle) = above {
            let attributes = self.attributes_of(caller, &handle)?;
            return Ok(Found { node: Node { handle, attributes }, directory: None });
        }
        let since = self.shared.since();
        let found = self.shared.inner.parent(caller, &self.shared.real(directory)?)?;
        Ok(Found { node: self.shared.shown(caller, since, found.node), directory: None })
    }

    fn access(&self, caller: &Caller, node: &Handle, wanted: Access) -> Result<(Access, Attributes)> {
        self.settle_attributes(node, |new| new.mode.is_some());
        if let Some(answer) = self.own_rights(caller, node, wanted)? {
            return Ok((answer.0 & wanted, answer.1));
        }
        let (since, real) = (self.shared.since(), self.shared.real(node)?);
        let (granted, attributes) = self.shared.inner.access(caller, &real, wanted)?;
        Ok((granted, self.shared.presented(caller, since, node, attributes)))
    }

    fn read_link(&self, caller: &Caller, node: &Handle, target: &mut Vec<u8>) -> Result<Attributes> {
        {
            let log = self.shared.log.lock();
            if let NodeSide::Here(id) = self.shared.side(&log, node)? {
                let coming =
                    log.tree.get(id).and_then(|known| known.coming.as_ref()).ok_or(FsError::Stale)?;
                let MadeNode::Link(leads) = &coming.what else { return Err(FsError::Invalid) };
                target.extend_from_slice(leads);
                return Ok(coming.attributes);
            }
        }
        let since = self.shared.since();
        let attributes = self.shared.inner.read_link(caller, &self.shared.real(node)?, target)?;
        Ok(self.shared.presented(caller, since, node, attributes))
    }

    fn read(&self, caller: &Caller, read: ReadFile<'_>, buffer: &mut Vec<u8>) -> Result<ReadOutcome> {
        {
            let mut log = self.shared.log.lock();
            if let NodeSide::Here(id) = self.shared.side(&log, read.node)? {
                let coming =
                    log.tree.get_mut(id).and_then(|known| known.coming.as_mut()).ok_or(FsError::Stale)?;
                if coming.what != MadeNode::File {
                    return Err(if coming.what == MadeNode::Directory {
                        FsError::IsDirectory
                    } else {
                        FsError::Invalid
                    });
                }
                let attributes = coming.attributes;
                let count = attributes.size.saturating_sub(read.offset).min(read.count as u64) as usize;
                coming.data.read(read.offset, count, buffer);
                let end = read.offset + count as u64 >= attributes.size;
                return Ok(ReadOutcome { content: Content::Appended(count), end, attributes });
            }
        }
        self.settle_attributes(read.node, |new| new.mode.is_some());
        let (since, real) = (self.shared.since(), self.shared.real(read.node)?);
        let outcome =
            self.shared.inner.read(caller, ReadFile::new(&real, read.offset, read.count), buffer)?;
        let attributes = self.shared.presented(caller, since, read.node, outcome.attributes);
        Ok(ReadOutcome { attributes, ..outcome })
    }

    fn write(&self, caller: &Caller, mut write: WriteFile<'_>, change: &mut Change) -> Result<Written> {
        self.shared.admit(write.data.len())?;
        if let NodeSide::Here(_) = self.side(write.node)?
            && !self.has_room(caller, write.data.len() as u64)
        {
            self.shared.settle(&[write.node], &[]);
        }
        if let NodeSide::Here(_) = self.side(write.node)? {
            let data = write.data.into_shared().map_err(|_| FsError::Io)?;
            write.data = howdah_vfs::Data::Shared(data.clone());
            if let Some(written) = self.hold(caller, &write, &data)? {
                if write.stability == Stability::Unstable {
                    return Ok(written);
                }
                self.settle_node(caller, write.node)?;
                return Ok(Written { stability: Stability::FileSync, ..written });
            }
        }
        self.shared.take_failure(write.node)?;
        // Times that were set before must not come after the data.
        self.settle_attributes(write.node, |_| true);
        let (since, real) = (self.shared.since(), self.shared.real(write.node)?);
        let (node, stability) = (write.node, write.stability);
        if stability != Stability::Unstable {
            // No replay after a power cut may write older data over it.
            self.shared.sync_journal();
        }
        let written = self.shared.inner.write(
            caller,
            WriteFile::new(&real, write.offset, write.data, stability),
            change,
        )?;
        if written.stability == Stability::Unstable {
            self.shared.log.lock().wrote(node, written.count, written.verifier);
        }
        self.present((caller, since), node, change);
        Ok(Written { verifier: self.verifier, ..written })
    }

    fn create(&self, caller: &Caller, create: CreateFile<'_>, change: &mut Change) -> Result<Node> {
        if let Create::Guarded(new) = create.how
            && let Some(made) =
                self.make_behind(caller, (create.directory, create.name), MadeNode::File, new)?
        {
            return Ok(made);
        }
        // What one that was there already is like says nothing.
        let new = match create.how {
            Create::Guarded(new) => Some(*new),
            Create::Unchecked(_) | Create::Exclusive(_) | Create::ExclusiveWith(..) => None,
        };
        self.make_through(
            caller,
            (create.directory, create.name),
            new.as_ref(),
            change,
            |inner, directory, change| {
                inner.create(caller, CreateFile::new(directory, create.name, create.how), change)
            },
        )
    }

    fn make_directory(&self, caller: &Caller, make: MakeDirectory<'_>, change: &mut Change) -> Result<Node> {
        if let Some(made) =
            self.make_behind(caller, (make.directory, make.name), MadeNode::Directory, make.new)?
        {
            return Ok(made);
        }
        self.make_through(
            caller,
            (make.directory, make.name),
            Some(make.new),
            change,
            |inner, directory, change| {
                inner.make_directory(caller, MakeDirectory::new(directory, make.name, make.new), change)
            },
        )
    }

    fn make_link(&self, caller: &Caller, make: MakeLink<'_>, change: &mut Change) -> Result<Node> {
        let what = MadeNode::Link(make.target.into());
        if let Some(made) = self.make_behind(caller, (make.directory, make.name), what, make.new)? {
            return Ok(made);
        }
        self.make_through(
            caller,
            (make.directory, make.name),
            Some(make.new),
            change,
            |inner, directory, change| {
                inner.make_link(caller, MakeLink::new(directory, make.name, make.target, make.new), change)
            },
        )
    }

    fn make_special(&self, caller: &Caller, make: MakeSpecial<'_>, change: &mut Change) -> Result<Node> {
        self.make_through(caller, (make.directory, make.name), None, change, |inner, directory, change| {
            inner.make_special(caller, MakeSpecial::new(directory, make.name, make.kind, make.new), change)
        })
    }

    fn remove(&self, caller: &Caller, directory: &Handle, name: Name<'_>, change: &mut Change) -> Result<()> {
        if let Some(outcome) = self.remove_behind(caller, directory, name, false) {
            return outcome;
        }
        self.take_through(caller, (directory, name, false), change, |inner, directory, change| {
            inner.remove(caller, directory, name, change)
        })
    }

    fn remove_directory(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        change: &mut Change,
    ) -> Result<()> {
        if let Some(outcome) = self.remove_behind(caller, directory, name, true) {
            return outcome;
        }
        self.take_through(caller, (directory, name, true), change, |inner, directory, change| {
            inner.remove_directory(caller, directory, name, change)
        })
    }

    fn rename(
        &self,
        caller: &Caller,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
        changes: (&mut Change, &mut Change),
    ) -> Result<()> {
        if let Some(outcome) = self.rename_behind(caller, from, to) {
            return outcome;
        }
        self.shared.settle_user(caller.user);
        // Which of them is a directory shows only then.
        self.shared.settle(&[from.0, to.0], &[]);
        self.settle_names(&[from, to]);
        let replaced = self.lookup_any(caller, to.0, to.1).ok();
        self.shared.settle(&replaced.iter().map(|node| &node.handle).collect::<Vec<_>>(), &[]);
        if let Ok(node) = self.lookup_any(caller, from.0, from.1) {
            self.shared.is_whole(&node.handle)?;
        }
        self.shared.sync_journal();
        let since = self.shared.since();
        let (real_from, real_to) = (self.shared.real(from.0)?, self.shared.real(to.0)?);
        let outcome = self.shared.inner.rename(
            caller,
            (&real_from, from.1),
            (&real_to, to.1),
            (&mut *changes.0, &mut *changes.1),
        );
        self.present((caller, since), from.0, changes.0);
        self.present((caller, since), to.0, changes.1);
        self.disown_name(from.0, from.1);
        self.disown(to.0, to.1);
        if outcome.is_ok() {
            self.moved(caller, to);
        }
        outcome
    }

    fn link(&self, caller: &Caller, link: AddLink<'_>, change: &mut Change) -> Result<Attributes> {
        if let Some(outcome) = self.link_behind(caller, &link) {
            return outcome;
        }
        self.shared.settle_user(caller.user);
        self.shared.settle(&[link.node], &[(link.directory, link.name.as_bytes())]);
        self.shared.is_whole(link.node)?;
        self.shared.sync_journal();
        let since = self.shared.since();
        let (node, directory) = (self.shared.real(link.node)?, self.shared.real(link.directory)?);
        let outcome = self.shared.inner.link(caller, AddLink::new(&node, &directory, link.name), change);
        self.disown(link.directory, link.name);
        self.present((caller, since), link.directory, change);
        outcome.map(|attributes| self.shared.presented(caller, since, link.node, attributes))
    }

    fn read_directory(
        &self,
        caller: &Caller,
        list: ListDirectory<'_>,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<Listing> {
        self.list(caller, &list, sink)
    }

    fn statistics(&self, caller: &Caller, node: &Handle) -> Result<Statistics> {
        let real = match self.side(node)? {
            NodeSide::There(real) => real,
            NodeSide::Here(_) => self.shared.inner.root(),
        };
        self.shared.inner.statistics(caller, &real)
    }

    fn limits(&self, caller: &Caller, node: &Handle) -> Result<Limits> {
        let real = match self.side(node)? {
            NodeSide::There(real) => real,
            NodeSide::Here(_) => self.shared.inner.root(),
        };
        self.shared.inner.limits(caller, &real)
    }

    /// As strong as fsync: the file is safe, and so are the names that lead to it.
    fn commit(&self, caller: &Caller, commit: CommitFile<'_>, _: &mut Change) -> Result<Committed> {
        self.settle_node(caller, commit.node)?;
        Ok(Committed { verifier: self.verifier })
    }

    fn seek(&self, caller: &Caller, node: &Handle, offset: u64, target: SeekTarget) -> Result<SeekOutcome> {
        self.look(node, |inner, real| inner.require_ranges()?.seek(caller, real, offset, target))
    }

    fn allocate(&self, caller: &Caller, extent: FileExtent<'_>, change: &mut Change) -> Result<()> {
        self.through(caller, extent.node, change, |inner, real, change| {
            inner.require_ranges()?.allocate(
                caller,
                FileExtent::new(real, extent.offset, extent.length),
                change,
            )
        })
    }

    fn deallocate(&self, caller: &Caller, extent: FileExtent<'_>, change: &mut Change) -> Result<()> {
        self.shared.settle_user(caller.user);
        self.through(caller, extent.node, change, |inner, real, change| {
            inner.require_ranges()?.deallocate(
                caller,
                FileExtent::new(real, extent.offset, extent.length),
                change,
            )
        })
    }

    fn copy_range(&self, caller: &Caller, copy: CopyRange<'_>, change: &mut Change) -> Result<Written> {
        self.shared.settle(&[copy.from.0], &[]);
        let from = self.shared.real(copy.from.0)?;
        let written = self.through(caller, copy.to.0, change, |inner, to, change| {
            let copy = CopyRange::new((&from, copy.from.1), (to, copy.to.1), copy.count);
            inner.require_ranges()?.copy_range(caller, copy, change)
        })?;
        if written.stability == Stability::Unstable {
            self.shared.log.lock().wrote(copy.to.0, written.count, written.verifier);
        }
        Ok(Written { verifier: self.verifier, ..written })
    }

    fn clone_range(&self, caller: &Caller, copy: CopyRange<'_>, change: &mut Change) -> Result<()> {
        self.shared.settle_user(caller.user);
        self.shared.settle(&[copy.from.0], &[]);
        let from = self.shared.real(copy.from.0)?;
        self.through(caller, copy.to.0, change, |inner, to, change| {
            let copy = CopyRange::new((&from, copy.from.1), (to, copy.to.1), copy.count);
            inner.require_ranges()?.clone_range(caller, copy, change)
        })
    }

    fn get_acl(&self, caller: &Caller, node: &Handle, kind: AclKind) -> Result<Option<Acl>> {
        self.look(node, |inner, real| inner.require_acls()?.get_acl(caller, real, kind))
    }

    fn set_acl(&self, caller: &Caller, set: SetAcl<'_>, change: &mut Change) -> Result<()> {
        self.through(caller, set.node, change, |inner, real, change| {
            inner.require_acls()?.set_acl(caller, SetAcl { node: real, ..set }, change)
        })
    }

    fn get_xattr(
        &self,
        caller: &Caller,
        node: &Handle,
        name: XattrName<'_>,
        value: &mut Vec<u8>,
    ) -> Result<()> {
        self.look(node, |inner, real| inner.require_xattrs()?.get_xattr(caller, real, name, value))
    }

    fn set_xattr(&self, caller: &Caller, set: SetXattr<'_>, change: &mut Change) -> Result<()> {
        self.through(caller, set.node, change, |inner, real, change| {
            inner.require_xattrs()?.set_xattr(
                caller,
                SetXattr::new(real, set.name, set.value, set.mode),
                change,
            )
        })
    }

    fn list_xattrs(
        &self,
        caller: &Caller,
        node: &Handle,
        cookie: u64,
        sink: &mut dyn FnMut(XattrName<'_>, u64) -> ControlFlow<()>,
    ) -> Result<bool> {
        self.look(node, |inner, real| inner.require_xattrs()?.list_xattrs(caller, real, cookie, sink))
    }

    fn remove_xattr(
        &self,
        caller: &Caller,
        node: &Handle,
        name: XattrName<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.through(caller, node, change, |inner, real, change| {
            inner.require_xattrs()?.remove_xattr(caller, real, name, change)
        })
    }
}

impl BehindShared {
    /// Waits until a node and the names that lead to it are safe.
    pub fn settle_with_names(&self, shown: &Handle) {
        let mut log = self.log.lock();
        let Some(mut id) = log.tree.find(shown) else { return };
        let mut changes: Vec<_> = log.order.touching(&TouchedPlace::Node(id)).collect();
        // Another host may have moved a directory below itself, as far as is known here.
        for _ in 0..DEPTH_MAX {
            let Some((above, name)) = log.tree.get(id).and_then(|known| known.place.clone()) else { break };
            changes.extend(log.order.touching(&TouchedPlace::Name(above, name)));
            changes.extend(log.order.last_alone(&TouchedPlace::Node(above)));
            id = above;
        }
        self.wait_for(&mut log, &changes);
    }

    /// The same, and all that is in a directory.
    pub fn settle_directory(&self, shown: &Handle) {
        self.settle_with_names(shown);
        let mut log = self.log.lock();
        let Some(id) = log.tree.find(shown) else { return };
        let mut changes: Vec<_> = log.order.touching(&TouchedPlace::Node(id)).collect();
        let nodes: Vec<_> = log
            .tree
            .names(id)
            .into_iter()
            .flat_map(|names| names.entries.values())
            .filter_map(|name| name.node)
            .collect();
        changes.extend(nodes.iter().flat_map(|node| log.order.touching(&TouchedPlace::Node(*node))));
        self.wait_for(&mut log, &changes);
    }

    /// Makes data of a file safe that the server has by this handle.
    ///
    /// # Errors
    /// It could not be written, or the server lost it.
    pub fn closed(&self, caller: &Caller, shown: &Handle, real: &Handle) -> Result<()> {
        let wrote = self.log.lock().take_unsafe(shown);
        let closed = self.consistency.closed(caller, real)?;
        let is_lost = wrote.is_some_and(|verifier| verifier != closed.verifier);
        if is_lost { Err(FsError::Io) } else { Ok(()) }
    }
}
