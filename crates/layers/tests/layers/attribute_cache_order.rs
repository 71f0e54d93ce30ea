//! The attribute cache where an answer comes later than one that the server gave after it.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use howdah_layers::{AttributeCache, AttributeCacheOptions};
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    Caller, Change, Create, CreateFile, Detail, Entry, FileSystem, Found, FsError, Handle, ListDirectory,
    MakeDirectory, Name, NewAttributes, Node, Result,
};
use parking_lot::{Condvar, Mutex};

const ROOT: Caller = Caller::ROOT;
/// A machine that is busy takes no longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server whose answers to the first LOOKUP or MKDIR come when the test wants.
#[derive(Default)]
struct Late {
    inner: MemoryFileSystem,
    /// Whether it was served, and whether its answer may come.
    served: Mutex<(bool, bool)>,
    news: Condvar,
}

impl Layer for Late {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&self.inner)
    }

    fn lookup(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Found> {
        self.answer(self.inner.lookup(caller, directory, name))
    }

    fn make_directory(&self, caller: &Caller, make: MakeDirectory<'_>, change: &mut Change) -> Result<Node> {
        self.answer(self.inner.make_directory(caller, make, change))
    }
}

impl Late {
    /// Keeps the first answer back.
    fn answer<T>(&self, answer: T) -> T {
        let mut served = self.served.lock();
        if !std::mem::replace(&mut served.0, true) {
            self.news.notify_all();
            self.news.wait_while_for(&mut served, |served| !served.1, PATIENCE);
        }
        answer
    }

    fn wait_until_served(&self) {
        self.news.wait_while_for(&mut self.served.lock(), |served| !served.0, PATIENCE);
    }

    fn lets_answer(&self) {
        self.served.lock().1 = true;
        self.news.notify_all();
    }
}

#[test]
fn a_name_that_was_made_before_a_newer_look_at_its_directory_is_found() {
    let server = Arc::new(Late::default());
    let options = AttributeCacheOptions::default();
    let cache = AttributeCache::around(Arc::clone(&server) as _, options, Arc::new(Duration::default));
    let fs: &dyn FileSystem = &cache;
    let (root, name) = (fs.root(), Name::parse(b"file").expect("a name"));
    let look = || fs.lookup(&ROOT, &root, name).map(drop);
    fs.attributes(&ROOT, &root).expect("known");
    thread::scope(|scope| {
        let early = scope.spawn(look);
        server.wait_until_served();
        let how = Create::Guarded(NewAttributes::default());
        server
            .inner
            .create(&ROOT, CreateFile::new(&root, name, &how), &mut Change::default())
            .expect("made by another");
        cache.revalidate(&ROOT, &root).expect("attributes");
        server.lets_answer();
        assert_eq!(early.join().expect("answered"), Err(FsError::NotFound), "as it was then");
    });
    assert_eq!(look(), Ok(()));
}

#[test]
fn what_another_caller_put_into_a_new_directory_is_found_by_its_maker() {
    let server = Arc::new(Late::default());
    let options = AttributeCacheOptions::default();
    let cache = AttributeCache::around(Arc::clone(&server) as _, options, Arc::new(Duration::default));
    let fs: &dyn FileSystem = &cache;
    let (root, name) = (fs.root(), Name::parse(b"name").expect("a name"));
    let directory = thread::scope(|scope| {
        let new = NewAttributes::default();
        let made = scope.spawn(move || {
            fs.make_directory(&ROOT, MakeDirectory::new(&root, name, &new), &mut Change::default())
        });
        server.wait_until_served();
        let directory = fs.lookup(&ROOT, &root, name).expect("it is there").node.handle;
        let how = Create::Guarded(NewAttributes::default());
        fs.create(&ROOT, CreateFile::new(&directory, name, &how), &mut Change::default())
            .expect("made in it");
        server.lets_answer();
        made.join().expect("answered").expect("made").handle
    });
    let mut names = Vec::new();
    let mut sink = |entry: Entry<'_>| {
        names.push(entry.name.to_vec());
        ControlFlow::Continue(())
    };
    fs.read_directory(&ROOT, ListDirectory::new(&directory, 0, Detail::Nodes), &mut sink).expect("listed");
    assert!(names.iter().any(|name| name == b"name"), "{names:?}");
}
