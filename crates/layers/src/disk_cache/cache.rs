//! What is given from the disk, what is put there, and what changes of ours do to it.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use howdah_vfs::{
    Access, Attributes, Caller, Change, Content, FileSystem, FsError, Handle, ReadFile, ReadOutcome, Result,
};

use super::chain::ChainEnd;
use super::options::DiskCacheOptions;
use super::pieces::{CachedPiece, whole_pieces};
use super::queue::Put;
use super::reading::{DiskReads, FetchedPieces};
use super::report::DiskCacheReport;
use super::secret::NodeKey;
use super::shared::DiskShared;
use super::storage::CacheStorage;
use super::tag::ContentTag;
use super::writer::DiskWriter;

/// Keeps data of files on a disk of this host, also while no process runs.
///
/// - What is on the disk is given while the file is as it was when it was put there: change attribute or file number, times and
///   size are compared with what the server said of the file in the last seconds, and the server is asked if it said nothing.
/// - A caller gets it only after the server let this caller read the file as it is now. ACCESS shows that when a file is opened,
///   and so does a READ.
/// - All of it is checked by checksums, and what does not match is read from the server.
/// - A disk that is slow is not waited for, one that hangs or fails is given up, and one that is full gets no more.
///
/// It must be right around the client, below layers that make attributes up: what the server says of a file is compared.
pub struct DiskCache {
    pub(super) inner: Arc<dyn FileSystem>,
    pub(super) shared: Arc<DiskShared>,
    reads: DiskReads,
    writer: DiskWriter,
}

/// What a change does to what is kept of a file.
pub struct FileEffect {
    /// The bytes that will be others.
    pub cut: Range<u64>,
    /// Whether who may read may be others.
    pub sets_rights: bool,
}

impl FileEffect {
    pub const NONE: Self = Self { cut: 0..0, sets_rights: false };

    pub fn cuts(offset: u64, length: u64) -> Self {
        Self { cut: offset..offset.saturating_add(length), sets_rights: false }
    }
}

impl DiskCache {
    /// The same files, with data kept in this place.
    pub fn around(
        inner: Arc<dyn FileSystem>,
        storage: Arc<dyn CacheStorage>,
        options: DiskCacheOptions,
    ) -> Self {
        let shared = Arc::new(DiskShared::new(storage, options));
        let writer = DiskWriter::start(&shared);
        Self { inner, reads: DiskReads::new(Arc::clone(&shared)), writer, shared }
    }

    /// What it holds and did.
    pub fn report(&self) -> DiskCacheReport {
        self.shared.report()
    }

    /// Waits until all that was taken is on the disk and in its index, no longer than this. Says whether it is.
    pub fn settled(&self, within: Duration) -> bool {
        self.writer.settled(within)
    }

    /// The next read of a file is answered by the server, whatever is kept of the file.
    pub fn doubt(&self, node: &Handle) {
        let now = self.now();
        let mut state = self.shared.state.lock();
        state.seen.doubt(node, now);
        state.forget(&self.shared.key(node));
    }

    pub(super) fn now(&self) -> Duration {
        self.shared.now()
    }

    /// The server answered now, to a question that was asked at `asked`, what a file is like.
    pub(super) fn told(&self, node: &Handle, attributes: &Attributes, asked: Duration) {
        if !self.shared.is_off() {
            let now = self.now();
            self.shared.state.lock().seen.saw(node, attributes, (asked, now));
        }
    }

    /// The same, and that a caller may read it.
    pub(super) fn let_read(&self, caller: &Caller, node: &Handle, attributes: &Attributes, asked: Duration) {
        if !self.shared.is_off() {
            let now = self.now();
            let mut state = self.shared.state.lock();
            state.seen.saw(node, attributes, (asked, now));
            state.seen.may_read(node, attributes, caller);
        }
    }

    /// Reads from the disk, or else from the server.
    pub(super) fn answer(
        &self,
        caller: &Caller,
        read: ReadFile<'_>,
        buffer: &mut Vec<u8>,
    ) -> Result<ReadOutcome> {
        if self.shared.is_off() {
            return self.inner.read(caller, read, buffer);
        }
        let key = self.shared.key(read.node);
        if let Some(outcome) = self.read_disk(caller, &read, &key)? {
            self.shared.hits.fetch_add(1, Ordering::Relaxed);
            return Ok(outcome);
        }
        self.shared.misses.fetch_add(1, Ordering::Relaxed);
        self.read_server(caller, read, &key, buffer)
    }

    /// The answer to a read, if the disk has it.
    fn read_disk(&self, caller: &Caller, read: &ReadFile<'_>, key: &NodeKey) -> Result<Option<ReadOutcome>> {
        let ReadFile { node, offset, count } = *read;
        let range = offset..offset.saturating_add(count as u64);
        let known = {
            let mut state = self.shared.state.lock();
            if !state.index.has(key, &range) {
                return Ok(None);
            }
            state.seen.current(node, caller, self.now(), self.shared.options.believed)
        };
        let attributes = match known {
            Some(attributes) => attributes,
            None => match self.ask(caller, node)? {
                Some(attributes) => attributes,
                None => return Ok(None),
            },
        };
        let found = self.shared.state.lock().find(key, &ContentTag::of(&attributes), &range);
        let Some(found) = found else {
            self.shared.work.notify_one();
            return Ok(None);
        };
        let first = found.wanted.pieces.first().map_or(0, CachedPiece::offset);
        let bytes = match found.waiting.map_or_else(|| self.reads.fetch(found.wanted), FetchedPieces::Here) {
            FetchedPieces::Here(bytes) => bytes,
            FetchedPieces::Late => return Ok(None),
            FetchedPieces::Damaged => {
                self.damaged(key, found.id);
                return Ok(None);
            }
        };
        let end = range.end.min(attributes.size);
        let inside = |at: u64| usize::try_from(at - first).map_err(|_| FsError::Io);
        let bytes = bytes.slice(inside(offset)?..inside(end)?);
        Ok(Some(ReadOutcome { content: Content::Bytes(bytes), end: end == attributes.size, attributes }))
    }

    /// What is kept of a file is not what was put there.
    fn damaged(&self, key: &NodeKey, id: u64) {
        let mut state = self.shared.state.lock();
        if state.index.get_mut(key, id).is_some() {
            state.forget(key);
            self.shared.work.notify_one();
        }
    }

    /// Asks the server what a file is like, and whether a caller may read it; `None` if it may not.
    fn ask(&self, caller: &Caller, node: &Handle) -> Result<Option<Attributes>> {
        let asked = self.now();
        let (granted, attributes) = self.inner.access(caller, node, Access::READ)?;
        if !granted.contains(Access::READ) {
            return Ok(None);
        }
        self.let_read(caller, node, &attributes, asked);
        // An answer that crossed a change of ours is not believed.
        Ok(self.shared.state.lock().seen.current(node, caller, asked, Duration::MAX))
    }

    /// The server's answer to a read, which is kept if the file was the same before as after.
    fn read_server(
        &self,
        caller: &Caller,
        read: ReadFile<'_>,
        key: &NodeKey,
        buffer: &mut Vec<u8>,
    ) -> Result<ReadOutcome> {
        let (node, offset, held) = (read.node, read.offset, buffer.len());
        let (asked, before) = (self.now(), self.shared.state.lock().seen.tag(node));
        let outcome = self.inner.read(caller, read, buffer)?.copied(buffer)?;
        self.let_read(caller, node, &outcome.attributes, asked);
        let tag = ContentTag::of(&outcome.attributes);
        let range = offset..offset + outcome.content.len() as u64;
        let missing = {
            let mut state = self.shared.state.lock();
            self.shared.look_for_hang(&mut state);
            // While changes of ours are under way it has no tag.
            let is_known = before == Some(tag) && state.seen.tag(node) == before;
            let takes = is_known && state.takes(outcome.content.len(), self.now());
            if takes { state.index.missing(key, tag, &range) } else { None }
        };
        let Some((id, missing)) = missing else { return Ok(outcome) };
        let (start, end) = ((missing.start - offset) as usize, (missing.end - offset) as usize);
        let bytes = match &outcome.content {
            Content::Bytes(bytes) => bytes.slice(start..end),
            _ => Bytes::copy_from_slice(&buffer[held..][start..end]),
        };
        let is_whole = missing == (0..tag.size);
        let mut state = self.shared.state.lock();
        // A change of ours that began meanwhile found nothing in the queue to cancel.
        if state.seen.tag(node) == before {
            state.puts.offer(Put { key: *key, id, offset: missing.start, bytes, is_whole });
            self.shared.work.notify_one();
        }
        Ok(outcome)
    }

    /// Makes a call that changes a file. Until all such calls have ended, nothing of the file is given from the disk.
    pub(super) fn change<T>(
        &self,
        node: &Handle,
        effect: FileEffect,
        change: &mut Change,
        run: impl FnOnce(&dyn FileSystem, &mut Change) -> Result<T>,
    ) -> Result<T> {
        if self.shared.is_off() {
            return run(&*self.inner, change);
        }
        let (key, asked) = (self.shared.key(node), self.now());
        {
            let mut state = self.shared.state.lock();
            let seen = state.seen.tag(node);
            state.seen.begin(node, effect.cut.clone());
            state.open(&key, seen, &effect.cut);
        }
        let outcome = run(&*self.inner, change);
        let now = self.now();
        let mut state = self.shared.state.lock();
        match state.seen.end(node, change, (asked, now), &effect.cut, effect.sets_rights) {
            ChainEnd::Open => {}
            ChainEnd::Whole(attributes) => state.index.close(&key, ContentTag::of(&attributes)),
            ChainEnd::Broken => state.forget(&key),
        }
        self.shared.work.notify_one();
        outcome
    }

    /// Data of ours is on the server, by a change that has not ended yet, and the file is like this. The data counts once all changes
    /// have ended and link up.
    pub(super) fn put_written(&self, node: &Handle, offset: u64, bytes: &Bytes, after: &Attributes) {
        let whole = whole_pieces(&(offset..offset + bytes.len() as u64), after.size);
        if whole.is_empty() || self.shared.is_off() {
            return;
        }
        let key = self.shared.key(node);
        let mut state = self.shared.state.lock();
        let Some(id) = state.index.begin_open(&key, ContentTag::of(after)) else { return };
        let (start, end) = ((whole.start - offset) as usize, (whole.end - offset) as usize);
        let is_whole = whole == (0..after.size);
        state.puts.offer(Put { key, id, offset: whole.start, bytes: bytes.slice(start..end), is_whole });
        self.shared.work.notify_one();
    }

    /// A file may be empty now, and another one than was kept.
    pub(super) fn forget(&self, node: &Handle) {
        self.doubt(node);
        self.shared.work.notify_one();
    }
}
