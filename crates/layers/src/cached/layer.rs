//! The composition: listing ahead around attribute cache around read-ahead around write-behind, and that around a cache on disk.

use std::sync::Arc;
use std::time::{Duration, Instant};

use howdah_vfs::layer::{Call, Layer, Stopwatch};
use howdah_vfs::{
    Attributes, Caller, Change, Closed, CommitFile, Consistency, FileSystem, Handle, Name, NewAttributes,
    Node, ReadFile, ReadOutcome, Result, SetAttributes,
};

use super::{CachedReport, CachingOptions};
use crate::attribute_cache::Auditor;
use crate::{
    AloneWatch, AttributeCache, CacheStorage, DiskCache, DiskCacheOptions, ListAhead, ReadAhead,
    ReadAheadOptions, WriteBehind,
};

/// How long the end of a process waits for its cache on disk.
const DISK_PATIENCE: Duration = Duration::from_secs(2);

/// A far file system with all caches: attributes, names and rights are remembered, data is read ahead and written behind.
///
/// What callers of this one change is seen by all of them at once. What others change on the far side is seen when what was
/// remembered has aged (by default after 3 to 60 s), or at once after [`revalidate`](Cached::revalidate): call it
/// when a file is opened, and [`flush`](Cached::flush) when it is closed, and the file is consistent from close to open.
pub struct Cached {
    listing: ListAhead,
    attributes: Arc<AttributeCache>,
    reading: Arc<ReadAhead>,
    writing: Arc<WriteBehind>,
    disk: Option<Arc<DiskCache>>,
    _auditor: Option<Auditor>,
}

impl Cached {
    /// The same files, cached.
    pub fn around(inner: Arc<dyn FileSystem>, options: CachingOptions) -> Self {
        Self::compose(inner, options, None)
    }

    /// The same, and data that was read is kept in a place that outlives this.
    pub fn on_disk(
        inner: Arc<dyn FileSystem>,
        options: CachingOptions,
        (storage, disk): (Arc<dyn CacheStorage>, DiskCacheOptions),
    ) -> Self {
        let disk = DiskCacheOptions { believed: options.attributes.file_min, ..disk };
        let disk = Arc::new(DiskCache::around(inner, storage, disk));
        Self::compose(Arc::clone(&disk) as _, options, Some(disk))
    }

    fn compose(inner: Arc<dyn FileSystem>, options: CachingOptions, disk: Option<Arc<DiskCache>>) -> Self {
        let writing = Arc::new(WriteBehind::around(inner, options.write_behind()));
        let reading = Arc::new(ReadAhead::around(Arc::clone(&writing) as _, options.read_ahead()));
        let start = Instant::now();
        let stopwatch: Stopwatch = Arc::new(move || start.elapsed());
        let its = Arc::clone(&stopwatch);
        let attributes = Arc::new(AttributeCache::around(Arc::clone(&reading) as _, options.attributes, its));
        let (listing, read) =
            (ListAhead::around(Arc::clone(&attributes), stopwatch), Arc::downgrade(&reading));
        let distrust = move || {
            read.upgrade().iter().for_each(|read| read.believe_for(ReadAheadOptions::default().believed));
        };
        let _auditor = Auditor::start(&attributes, distrust);
        Self { listing, attributes, reading, writing, disk, _auditor }
    }

    /// Whether it is still believed that nobody else changes the tree, if it ever was.
    pub fn alone(&self) -> Option<&Arc<AloneWatch>> {
        self.attributes.alone()
    }

    /// A file is opened: asks the server what it is like, and drops data that was cached before it changed.
    ///
    /// # Errors
    /// As those of GETATTR.
    pub fn revalidate(&self, caller: &Caller, node: &Handle) -> Result<Attributes> {
        let attributes = self.attributes.revalidate(caller, node)?;
        self.reading.opened(node, &attributes);
        Ok(attributes)
    }

    /// A file is closed or made durable (fsync): everything that was written to it is durable on the server when this returns.
    ///
    /// # Errors
    /// What writing or committing was refused with, also for data that was taken earlier. Each failure is reported once.
    pub fn flush(&self, caller: &Caller, node: &Handle) -> Result<()> {
        self.writing.flush(caller, node)
    }

    /// Makes durable what is held of all files.
    ///
    /// # Errors
    /// The first that occurred. What failed stays to be reported by the next write or flush of its file.
    pub fn flush_all(&self) -> Result<()> {
        self.writing.flush_all()
    }

    /// Waits a little until the cache on disk has all that it took: before the process ends.
    pub fn settle(&self) {
        if let Some(disk) = &self.disk {
            disk.settled(DISK_PATIENCE);
        }
    }

    /// What it holds and did.
    pub fn report(&self) -> CachedReport {
        CachedReport {
            attributes: self.attributes.report(),
            listing: self.listing.report(),
            reading: self.reading.report(),
            writing: self.writing.report(),
            disk: self.disk.as_ref().map(|disk| disk.report()),
        }
    }
}

/// From close to open. Where nobody else changes the tree, opening asks nothing that is known.
impl Consistency for Cached {
    /// The rights of the caller that opens it are asked next: one question for both.
    fn opened(&self, caller: &Caller, node: &Handle) -> Result<Attributes> {
        let attributes = self.attributes.opened(caller, node)?;
        self.reading.opened(node, &attributes);
        Ok(attributes)
    }

    fn will_read(&self, caller: &Caller, node: &Handle) {
        if let Some(size) = self.attributes.known_size(node) {
            self.reading.fetch_small(caller, node, size);
        }
    }

    fn closed(&self, caller: &Caller, node: &Handle) -> Result<Closed> {
        if let Some(verifier) = self.writing.durable(node) {
            return Ok(Closed { verifier, after: None });
        }
        let mut change = Change::default();
        let verifier = FileSystem::commit(self, caller, CommitFile::new(node, 0, 0), &mut change)?.verifier;
        Ok(Closed { verifier, after: change.after })
    }

    fn set_while_written(
        &self,
        caller: &Caller,
        node: &Handle,
        new: &NewAttributes,
    ) -> Option<Result<Option<Attributes>>> {
        if !self.writing.send_whole_for(caller, node, new) {
            return None;
        }
        let mut change = Change::default();
        let set = FileSystem::set_attributes(self, caller, SetAttributes::new(node, new, None), &mut change);
        Some(set.map(|()| change.after))
    }

    fn is_alone(&self) -> bool {
        self.alone().is_some_and(|watch| watch.broken().is_none())
    }

    fn is_believed(&self, node: &Handle) -> bool {
        self.attributes.knows_attributes(node)
    }

    fn sent(&self, caller: &Caller, node: &Handle) -> Result<Attributes> {
        self.writing.send(node)?;
        self.attributes.revalidate(caller, node)
    }

    fn lookup_now(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Node> {
        Ok(self.attributes.lookup_now(caller, directory, name)?.node)
    }

    /// With what was written here before.
    fn read_now(&self, caller: &Caller, read: ReadFile<'_>, buffer: &mut Vec<u8>) -> Result<ReadOutcome> {
        if let Some(disk) = &self.disk {
            disk.doubt(read.node);
        }
        FileSystem::read(&*self.writing, caller, read, buffer)
    }
}

impl Layer for Cached {
    fn inner(&self) -> &dyn FileSystem {
        &self.listing
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&self.listing)
    }
}
