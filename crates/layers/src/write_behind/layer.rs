//! The layer: takes unstable writes, shows their effect at once, and holds back calls that must not overtake them.

use std::hash::{BuildHasher, RandomState};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::{
    Access, AddLink, Attributes, Caller, Change, CommitFile, Committed, CopyRange, Create, CreateFile, Entry,
    FileExtent, FileKind, FileSystem, Found, FsError, Handle, ListDirectory, Listing, Name, NewAttributes,
    Node, RangeOperations, ReadFile, ReadOutcome, Result, SeekOutcome, SeekTarget, SetAcl, SetAttributes,
    SetXattr, Stability, WriteFile, Written, XattrName,
};

use super::aging::Aging;
use super::answer::Taken;
use super::commit::LOSSES_MAX;
use super::file::DirtyPiece;
use super::pools::Pools;
use super::shared::Shared;
use super::state::Teller;
use super::{WriteBehindOptions, WriteBehindReport};
use crate::outcome::may_have_run;

/// Takes unstable writes at once and makes the calls for them later, gathered to whole blocks, so many at a time as the
/// path takes.
///
/// - A caller's first write to a file is made at once unless the caller owns the file, or ACCESS said that it may write: so
///   a caller without write permission gets the refusal at once.
/// - Attributes show what was taken: the size at once, and times that grow with every write.
/// - Data is held until a COMMIT has made it durable, and written again if the server lost it. So that memory becomes free,
///   COMMITs are made before anybody asks. Where memory is full, writers wait.
/// - What goes wrong later is reported by the next write or COMMIT of that file.
pub struct WriteBehind {
    shared: Arc<Shared>,
    pools: Arc<Pools>,
    _aging: Aging,
    /// The verifier of data that was taken, at first. What a server loses is written again from here, so that it changes only
    /// when data is given up; and after a restart of the process, which loses what was not committed.
    first_verifier: [u8; 8],
}

impl WriteBehind {
    /// The same files, written behind.
    pub fn around(inner: Arc<dyn FileSystem>, options: WriteBehindOptions) -> Self {
        let pools = Arc::new(Pools::new(options.in_flight));
        let first_verifier = RandomState::new().hash_one(std::process::id()).to_ne_bytes();
        let shared = Arc::new(Shared::new(inner, options));
        Self { _aging: Aging::start(&shared, &pools), shared, pools, first_verifier }
    }

    /// Makes durable what was written to a file, if anything is not.
    ///
    /// # Errors
    /// What writing or committing was refused with, also for data that was taken earlier.
    pub fn flush(&self, caller: &Caller, node: &Handle) -> Result<()> {
        if self.shared.holds(node) {
            self.shared.commit(&self.pools, node, caller, Teller::User, &mut Change::default())?;
        }
        Ok(())
    }

    /// Sends what was written to a file. It need not be durable then.
    ///
    /// # Errors
    /// The server did not answer in time. What it refused is reported by the next write or commit.
    pub fn send(&self, node: &Handle) -> Result<()> {
        self.shared.flush(&self.pools, node)
    }

    /// A caller is about to set attributes of a file whose data was taken before: sends that data, if it can be written at the same time.
    /// It is durable when both are over, or the next [`flush`](Self::flush) makes it so.
    pub fn send_whole_for(&self, caller: &Caller, node: &Handle, new: &NewAttributes) -> bool {
        self.shared.send_whole(&self.pools, node, caller, new).is_some()
    }

    /// The verifier of a file's data, if that became durable while attributes were set, and no failure of it has to be
    /// reported.
    pub fn durable(&self, node: &Handle) -> Option<[u8; 8]> {
        self.shared.wrote_whole(node).then(|| self.verifier(node))
    }

    /// Makes durable what is held of all files.
    ///
    /// # Errors
    /// The first that occurred; the next write or commit reports all of them.
    pub fn flush_all(&self) -> Result<()> {
        self.shared.commit_all(&self.pools)
    }

    /// What it holds, did, and chose.
    pub fn report(&self) -> WriteBehindReport {
        self.shared.report()
    }

    /// Makes durable what is held of a file, if anything is.
    fn commit_held(&self, node: &Handle, teller: Teller) -> Result<()> {
        if self.shared.holds(node) { self.shared.commit_as_writer(&self.pools, node, teller) } else { Ok(()) }
    }

    fn verifier(&self, node: &Handle) -> [u8; 8] {
        self.shared.state.lock().verifier(node, self.first_verifier)
    }

    /// How a file is before the server is asked for it.
    fn before(&self, node: &Handle) -> BeforeCall {
        let state = self.shared.state.lock();
        let dirty_end = state.files.get(node).map_or(0, super::file::File::dirty_end);
        BeforeCall { dirty_end, moment: state.known.moment() }
    }

    /// The same of a file that is not known yet.
    fn before_any(&self) -> BeforeCall {
        BeforeCall { dirty_end: 0, moment: self.shared.state.lock().known.moment() }
    }

    /// What callers see of a file, if this is what the server said: what was on its way before may have arrived after the server
    /// looked.
    fn seen(&self, node: &Handle, server: Attributes, before: BeforeCall) -> Attributes {
        let mut state = self.shared.state.lock();
        let server = state.known.newest(node, server, before.moment);
        state.known.saw(node, &server, before.moment);
        let seen = state.overlaid(node, server);
        let seen = Attributes { size: seen.size.max(before.dirty_end), ..seen };
        state.known.told(node, &seen);
        seen
    }

    /// A name leads to a node.
    fn found(&self, directory: &Handle, name: Name<'_>, node: &Node) {
        if node.attributes.kind == FileKind::Regular {
            self.shared.state.lock().known.found(directory, name.as_bytes(), node.handle);
        }
    }

    /// Makes a call that changes a node otherwise than by a write.
    fn change<T>(
        &self,
        node: &Handle,
        sets_size: bool,
        change: &mut Change,
        run: impl FnOnce(&dyn FileSystem, &mut Change) -> Result<T>,
    ) -> Result<T> {
        let before = self.before_any();
        let outcome = run(&*self.shared.inner, change);
        if sets_size {
            self.shared.sized(node);
        } else if let Some(after) = &mut change.after {
            *after = self.shared.state.lock().known.newest(node, *after, before.moment);
        }
        Shared::hide(&mut self.shared.state.lock(), node, change);
        if !matches!(outcome, Err(FsError::NotSupported)) {
            self.changed(node, change.after.as_ref(), sets_size);
        }
        Shared::overlay(&mut self.shared.state.lock(), node, change);
        outcome
    }

    /// Sends what was written to a file if any of it lies behind `offset`, before the server reads it there. The end of the file counts,
    /// too. What is written meanwhile is not waited for.
    fn send_from(&self, (node, offset): (&Handle, u64)) -> Result<()> {
        let is_needed = self.shared.state.lock().overlaps(node, &(offset..u64::MAX));
        if is_needed {
            self.shared.flush(&self.pools, node)?;
        }
        // The program that wrote it has yet to receive it.
        let failed = self.shared.state.lock().files.get(node).and_then(|file| file.failed);
        failed.map_or(Ok(()), Err)
    }

    /// Makes durable what the server is to read: what it has lost it would read as it was before.
    fn make_durable(&self, (node, offset): (&Handle, u64), count: u64) -> Result<()> {
        let is_held = self.shared.state.lock().holds_any(node, &until(offset, count));
        if is_held {
            self.commit_held(node, Teller::Nobody)?;
        }
        self.send_from((node, offset))
    }

    /// Makes a call that replaces a range of a file. Data of that range is made durable first: written again after a loss, it
    /// would undo the call.
    fn replace<T>(
        &self,
        node: &Handle,
        range: Range<u64>,
        change: &mut Change,
        run: impl FnOnce(&dyn RangeOperations, &mut Change) -> Result<T>,
    ) -> Result<T> {
        let is_held = self.shared.state.lock().holds_any(node, &range);
        if is_held {
            self.commit_held(node, Teller::User)?;
        }
        self.shared.state.lock().take_failure(node)?;
        self.change(node, false, change, |inner, change| run(inner.require_ranges()?, change))
    }

    /// A file was changed otherwise than by data: what the server said is what it is like.
    fn changed(&self, node: &Handle, after: Option<&Attributes>, sets_size: bool) {
        let mut state = self.shared.state.lock();
        match after {
            Some(after) => state.known.changed(node, after, sets_size),
            None => state.known.forget(node),
        }
    }
}

/// A file before the server is asked for it.
#[derive(Clone, Copy)]
struct BeforeCall {
    /// Where the data ends that the server may not have yet.
    dirty_end: u64,
    moment: u64,
}

impl Drop for WriteBehind {
    /// Nobody will commit what is left: it is written and committed now.
    fn drop(&mut self) {
        if let Err(error) = self.flush_all() {
            tracing::warn!(%error, "data that was never committed could not be written");
        }
    }
}

impl Layer for WriteBehind {
    fn inner(&self) -> &dyn FileSystem {
        &*self.shared.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&*self.shared.inner)
    }

    fn write(
        &self,
        caller: &Caller,
        WriteFile { node, offset, data, stability }: WriteFile<'_>,
        change: &mut Change,
    ) -> Result<Written> {
        // From before: if this very data is given up soon, COMMIT answers with another one.
        let verifier = self.verifier(node);
        // What is empty, or reaches beyond what offsets can say, is judged by the file system itself.
        let ends = offset.checked_add(data.len() as u64).is_some_and(|end| i64::try_from(end).is_ok());
        if data.is_empty() || !ends {
            let written =
                self.shared.inner.write(caller, WriteFile { node, offset, data, stability }, change)?;
            return Ok(Written { verifier, ..written });
        }
        let bytes = data.into_shared().map_err(|_| FsError::Io)?;
        let (count, piece) = (bytes.len(), DirtyPiece { caller: caller.clone(), offset, bytes });
        let range = piece.range();
        if stability != Stability::Unstable || !self.shared.may_write(node, caller) {
            let written = self.shared.write_now(&self.pools, node, &piece, stability, change)?;
            return Ok(Written { verifier, ..written });
        }
        self.shared.take(&self.pools, node, piece, change)?;
        let first_verifier = self.first_verifier;
        let stability = self.shared.durability(&Taken { node, range, verifier, first_verifier });
        Ok(Written { count, stability, verifier })
    }

    fn commit(&self, caller: &Caller, commit: CommitFile<'_>, change: &mut Change) -> Result<Committed> {
        if !self.shared.commit(&self.pools, commit.node, caller, Teller::User, change)? {
            self.shared.inner.commit(caller, commit, change)?;
            Shared::hide(&mut self.shared.state.lock(), commit.node, change);
        }
        Ok(Committed { verifier: self.verifier(commit.node) })
    }

    fn attributes(&self, caller: &Caller, node: &Handle) -> Result<Attributes> {
        let before = self.before(node);
        let server = self.shared.inner.attributes(caller, node)?;
        Ok(self.seen(node, server, before))
    }

    fn set_attributes(
        &self,
        caller: &Caller,
        SetAttributes { node, new, guard }: SetAttributes<'_>,
        change: &mut Change,
    ) -> Result<()> {
        // The guard is what callers saw while data was held: the server's own time is another one.
        let overlaid = self.shared.told(node);
        if new.size.is_some() {
            // Data that is cut off must not be written again afterwards.
            self.commit_held(node, Teller::User)?;
        } else if guard.is_some() {
            self.shared.flush(&self.pools, node)?;
        } else {
            let overtakes = self.shared.state.lock().may_overtake(node, caller, new);
            let whole = match overtakes {
                true => self.shared.whole_write(node),
                false => self.shared.send_whole(&self.pools, node, caller, new),
            };
            if let Some(whole) = whole {
                return self.change(node, false, change, |_, change| {
                    self.shared.set_with_data(&self.pools, caller, (node, new), &whole, change)
                });
            }
            if !overtakes {
                self.shared.flush(&self.pools, node)?;
            }
        }
        let guard = match guard {
            Some(guard) if overlaid.is_some_and(|overlaid| guard.holds(&overlaid)) => {
                Some((&self.shared.inner.attributes(caller, node)?).into())
            }
            guard => guard,
        };
        self.change(node, new.size.is_some(), change, |inner, change| {
            inner.set_attributes(caller, SetAttributes { node, new, guard }, change)
        })
    }

    fn lookup(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Found> {
        let before = self.before_any();
        let mut found = self.shared.inner.lookup(caller, directory, name)?;
        let node = &mut found.node;
        node.attributes = self.seen(&node.handle, node.attributes, before);
        self.found(directory, name, node);
        Ok(found)
    }

    fn access(&self, caller: &Caller, node: &Handle, wanted: Access) -> Result<(Access, Attributes)> {
        let before = self.before(node);
        let (granted, server) = self.shared.inner.access(caller, node, wanted)?;
        let seen = self.seen(node, server, before);
        self.shared.state.lock().known.may(node, caller, granted);
        Ok((granted, seen))
    }

    fn read(
        &self,
        caller: &Caller,
        ReadFile { node, offset, count }: ReadFile<'_>,
        buffer: &mut Vec<u8>,
    ) -> Result<ReadOutcome> {
        let length = buffer.len();
        loop {
            let range = offset..offset.saturating_add(count as u64);
            self.shared.flush_range(&self.pools, node, &range)?;
            let before = self.before(node);
            let mut read = self.shared.inner.read(caller, ReadFile { node, offset, count }, buffer)?;
            // The server's end of the file is not where data ends that it has not got yet.
            let read_end = offset + read.content.len() as u64;
            if (read.end || read.content.len() < count) && read_end < before.dirty_end {
                buffer.truncate(length);
                self.shared.flush(&self.pools, node)?;
                continue;
            }
            read.end &= read_end >= self.before(node).dirty_end;
            read.attributes = self.seen(node, read.attributes, before);
            return Ok(read);
        }
    }

    fn create(&self, caller: &Caller, create: CreateFile<'_>, change: &mut Change) -> Result<Node> {
        // It may cut a file short, and must not cut what comes after it.
        let cuts = matches!(create.how, Create::Unchecked(new) if new.size.is_some());
        if cuts
            && !self.shared.nodes().is_empty()
            && let Ok(found) = self.shared.inner.lookup(caller, create.directory, create.name)
        {
            // What else goes wrong is reported by the next write or commit of that file.
            if let Err(FsError::Delay) = self.commit_held(&found.node.handle, Teller::Nobody) {
                return Err(FsError::Delay);
            }
        }
        let before = self.before_any();
        let mut node = self.shared.inner.create(caller, create, change)?;
        if cuts {
            self.shared.sized(&node.handle);
            self.changed(&node.handle, Some(&node.attributes), true);
        }
        node.attributes = self.seen(&node.handle, node.attributes, before);
        self.found(create.directory, create.name, &node);
        if !matches!(create.how, Create::Unchecked(_)) {
            // It is new, and belongs to who made it.
            self.shared.state.lock().known.may(&node.handle, caller, Access::MODIFY);
        }
        Ok(node)
    }

    fn remove(&self, caller: &Caller, directory: &Handle, name: Name<'_>, change: &mut Change) -> Result<()> {
        let outcome = self.shared.inner.remove(caller, directory, name, change);
        if may_have_run(&outcome) {
            self.shared.state.lock().lost_name(directory, name.as_bytes());
        }
        outcome
    }

    fn rename(
        &self,
        caller: &Caller,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
        changes: (&mut Change, &mut Change),
    ) -> Result<()> {
        let outcome = self.shared.inner.rename(caller, from, to, changes);
        if may_have_run(&outcome) {
            let mut state = self.shared.state.lock();
            state.lost_name(from.0, from.1.as_bytes());
            state.lost_name(to.0, to.1.as_bytes());
        }
        outcome
    }

    fn link(&self, caller: &Caller, link: AddLink<'_>, change: &mut Change) -> Result<Attributes> {
        let before = self.before(link.node);
        let server = self.shared.inner.link(caller, link, change)?;
        Ok(self.seen(link.node, server, before))
    }

    fn read_directory(
        &self,
        caller: &Caller,
        list: ListDirectory<'_>,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<Listing> {
        let before = self.before_any();
        self.shared.inner.read_directory(caller, list, &mut |entry| {
            let node = entry.node.map(|node| {
                let mut state = self.shared.state.lock();
                let mut attributes = node.attributes;
                if attributes.kind == FileKind::Regular {
                    state.known.found(list.directory, entry.name, node.handle);
                    attributes = state.known.newest(&node.handle, attributes, before.moment);
                }
                Node { attributes: state.overlaid(&node.handle, attributes), ..*node }
            });
            sink(Entry { node: node.as_ref(), ..entry })
        })
    }

    fn seek(&self, caller: &Caller, node: &Handle, offset: u64, target: SeekTarget) -> Result<SeekOutcome> {
        self.make_durable((node, offset), 0)?;
        self.shared.inner.require_ranges()?.seek(caller, node, offset, target)
    }

    fn allocate(&self, caller: &Caller, extent: FileExtent<'_>, change: &mut Change) -> Result<()> {
        // It changes no data.
        self.replace(extent.node, 0..0, change, |ranges, change| ranges.allocate(caller, extent, change))
    }

    fn deallocate(&self, caller: &Caller, extent: FileExtent<'_>, change: &mut Change) -> Result<()> {
        self.replace(
            extent.node,
            extent.offset..extent.offset.saturating_add(extent.length),
            change,
            |ranges, change| ranges.deallocate(caller, extent, change),
        )
    }

    /// What the server copied is not here to be written again: it is durable when this returns.
    fn copy_range(
        &self,
        caller: &Caller,
        CopyRange { from, to, count }: CopyRange<'_>,
        change: &mut Change,
    ) -> Result<Written> {
        for _ in 0..LOSSES_MAX {
            self.make_durable(from, count)?;
            let written = self.replace(to.0, until(to.1, count), change, |ranges, change| {
                ranges.copy_range(caller, CopyRange { from, to, count }, change)
            })?;
            let Written { count: copied, stability, verifier } = written;
            let is_durable = copied == 0 || stability != Stability::Unstable || {
                let (count, ignored) = (copied as u64, &mut Change::default());
                self.shared.inner.commit(caller, CommitFile::new(to.0, to.1, count), ignored)?.verifier
                    == verifier
            };
            if is_durable {
                let (stability, verifier) = (Stability::FileSync, self.verifier(to.0));
                return Ok(Written { count: copied, stability, verifier });
            }
        }
        Err(FsError::Io)
    }

    fn clone_range(&self, caller: &Caller, copy: CopyRange<'_>, change: &mut Change) -> Result<()> {
        self.make_durable(copy.from, copy.count)?;
        self.replace(copy.to.0, until(copy.to.1, copy.count), change, |ranges, change| {
            ranges.clone_range(caller, copy, change)
        })
    }

    fn set_acl(&self, caller: &Caller, set: SetAcl<'_>, change: &mut Change) -> Result<()> {
        self.change(set.node, false, change, |inner, change| {
            inner.require_acls()?.set_acl(caller, set, change)
        })
    }

    fn set_xattr(&self, caller: &Caller, set: SetXattr<'_>, change: &mut Change) -> Result<()> {
        self.change(set.node, false, change, |inner, change| {
            inner.require_xattrs()?.set_xattr(caller, set, change)
        })
    }

    fn remove_xattr(
        &self,
        caller: &Caller,
        node: &Handle,
        name: XattrName<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.change(node, false, change, |inner, change| {
            inner.require_xattrs()?.remove_xattr(caller, node, name, change)
        })
    }

    /// What was written is durable when others can lock. If it cannot be, it is given up, since it could replace what others write then:
    /// the next write or commit reports that.
    fn unlock_range(&self, caller: &Caller, node: &Handle, owner: u64, bytes: (u64, u64)) -> Result<()> {
        if let Err(error) = self.commit_held(node, Teller::Nobody) {
            tracing::warn!(%error, "a file is unlocked: what was written to it and is not durable is given up");
            self.shared.give_up(node, error);
        }
        self.shared.inner.require_file_locks()?.unlock_range(caller, node, owner, bytes)
    }
}

/// The bytes that a copy of so many replaces; a count of 0 means up to the end of its source.
fn until(offset: u64, count: u64) -> Range<u64> {
    offset..if count == 0 { u64::MAX } else { offset.saturating_add(count) }
}
