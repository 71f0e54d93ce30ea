//! The layer: passes calls on to the cache, and fills the cache with what a walk will ask for.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use howdah_threads::{AtEnd, Threads};
use howdah_vfs::layer::{Call, Layer, Stopwatch};
use howdah_vfs::{
    Access, Attributes, Caller, Detail, Entry, FileSystem, Found, Handle, ListDirectory, Listing, Name,
    Result,
};
use parking_lot::{Condvar, Mutex};

use super::ListAheadReport;
use super::fetch::{Fetch, child};
use super::shared::{ANSWERS, Shared};
use super::walk::{Done, Walks};
use crate::AttributeCache;

/// The most listings under way that no program asked for.
const CALLS_MAX: usize = 64;
/// A server whose answers take less is near: nothing is listed ahead.
const FAR: Duration = Duration::from_millis(2);

/// Lists directories ahead into an attribute cache, when a program walks a tree of a server that is far away: what is beside
/// and below the directories that it lists. Where a program looks up several names of one directory, that is listed, too.
pub struct ListAhead {
    shared: Arc<Shared>,
    fetcher: Threads,
}

impl ListAhead {
    /// The same files, listed ahead.
    pub fn around(cache: Arc<AttributeCache>, stopwatch: Stopwatch) -> Self {
        let (walks, answers) = (Mutex::new(Walks::new(CALLS_MAX)), Mutex::default());
        let shared = Arc::new(Shared { cache, stopwatch, walks, answers, over: Condvar::new() });
        Self { shared, fetcher: Threads::new("list-ahead", CALLS_MAX, AtEnd::DropJobs) }
    }

    /// What it did.
    pub fn report(&self) -> ListAheadReport {
        let (listed, used) = self.shared.walks.lock().counts();
        ListAheadReport { listed, used }
    }

    /// Whether the server is far away, and attributes are believed for long enough to be of use.
    fn is_worth(&self) -> bool {
        let nearest = {
            let (answers, count) = &*self.shared.answers.lock();
            answers[..ANSWERS.min(*count)].iter().min().copied()
        };
        nearest.is_some_and(|nearest| nearest >= FAR) && self.shared.cache.believes()
    }

    /// Makes a call and measures how long the server took.
    fn timed<T>(&self, run: impl FnOnce() -> Result<T>) -> Result<T> {
        let start = self.shared.now();
        let answer = run();
        let took = self.shared.now().saturating_sub(start);
        let (answers, next) = &mut *self.shared.answers.lock();
        answers[*next % ANSWERS] = took;
        *next += 1;
        answer
    }

    /// Waits until a directory is not being listed ahead.
    fn wait_for(&self, directory: &Handle) {
        let mut walks = self.shared.walks.lock();
        while walks.is_under_way(directory) {
            self.shared.over.wait(&mut walks);
        }
    }

    /// Starts what should be listed now.
    fn start(&self) {
        loop {
            let Some(next) = self.shared.walks.lock().poll_next() else { return };
            let fetch = Fetch::new(Arc::clone(&self.shared), next);
            self.fetcher.run(move || fetch.run());
        }
    }

    /// Lists a directory for a program that looks names up in it; others who do so wait.
    fn list_for_names(&self, caller: &Caller, directory: &Handle) -> Result<()> {
        let _listing = UnderWay { shared: &self.shared, directory };
        let is_walked = {
            let mut walks = self.shared.walks.lock();
            walks.begin(directory);
            let is_known = || self.shared.cache.knows_listing(caller, directory);
            walks.on_asked(caller, directory, self.shared.now(), is_known)
        };
        self.start();
        let files = self.shared.files();
        files.access(caller, directory, Access::ALL)?;
        let mut children = Vec::new();
        let mut sink = |entry: Entry<'_>| {
            children.extend(child(&entry));
            ControlFlow::Continue(())
        };
        let is_whole = self.shared.cache.list_if_small(caller, directory, Detail::Nodes, &mut sink)?;
        let mut walks = self.shared.walks.lock();
        walks.on_listed(caller, directory, children, is_walked);
        if is_whole {
            walks.on_whole(directory);
        }
        drop(walks);
        self.start();
        Ok(())
    }

    /// Lists a directory for a program; what is beside it is listed at the same time.
    fn list(
        &self,
        caller: &Caller,
        directory: &Handle,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
        run: impl FnOnce(&mut dyn FnMut(Entry<'_>) -> ControlFlow<()>) -> Result<Listing>,
    ) -> Result<Listing> {
        self.wait_for(directory);
        let is_known = || self.shared.cache.knows_listing(caller, directory);
        let is_walked = self.shared.walks.lock().on_asked(caller, directory, self.shared.now(), is_known);
        self.start();
        let mut children = Vec::new();
        let listing = run(&mut |entry| {
            children.extend(child(&entry));
            sink(entry)
        })?;
        self.shared.walks.lock().on_listed(caller, directory, children, is_walked);
        self.start();
        Ok(listing)
    }
}

/// A directory is being listed for its names, until this is dropped.
struct UnderWay<'l> {
    shared: &'l Shared,
    directory: &'l Handle,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.shared.walks.lock().on_done(self.directory, Done::Not, Duration::ZERO);
        self.shared.over.notify_all();
    }
}

impl Layer for ListAhead {
    fn inner(&self) -> &dyn FileSystem {
        &*self.shared.cache
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&*self.shared.cache)
    }

    fn read_directory(
        &self,
        caller: &Caller,
        ListDirectory { directory, cookie, detail }: ListDirectory<'_>,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<Listing> {
        let files = self.shared.files();
        if cookie != 0 || detail != Detail::Nodes || !self.is_worth() {
            return files.read_directory(caller, ListDirectory { directory, cookie, detail }, sink);
        }
        self.list(caller, directory, sink, |sink| {
            files.read_directory(caller, ListDirectory::new(directory, 0, detail), sink)
        })
    }

    fn access(&self, caller: &Caller, node: &Handle, wanted: Access) -> Result<(Access, Attributes)> {
        self.wait_for(node);
        if self.shared.cache.knows_rights(caller, node, wanted) {
            return self.shared.files().access(caller, node, wanted);
        }
        self.timed(|| self.shared.files().access(caller, node, wanted))
    }

    fn lookup(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Found> {
        let (cache, files) = (&self.shared.cache, self.shared.files());
        if cache.knows_name(caller, directory, name) {
            if self.shared.walks.lock().on_used(directory, self.shared.now()) {
                self.start();
            }
            return files.lookup(caller, directory, name);
        }
        self.wait_for(directory);
        if !cache.knows_name(caller, directory, name)
            && self.is_worth()
            && self.shared.walks.lock().on_miss(directory, self.shared.now())
            && let Err(error) = self.list_for_names(caller, directory)
        {
            tracing::debug!(%error, "a directory could not be listed for its names");
        }
        match cache.knows_name(caller, directory, name) {
            true => files.lookup(caller, directory, name),
            false => self.timed(|| files.lookup(caller, directory, name)),
        }
    }
}
