//! The attribute cache of a tree that nobody else changes: it asks nothing again, and sees when that is wrong.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use howdah_layers::{AttributeCache, AttributeCacheOptions, Cached, CachingOptions};
use howdah_random::Random;
use howdah_vfs::conformance::operations::run_operations;
use howdah_vfs::conformance::{self, Abilities, Subject};
use howdah_vfs::layer::{self, Call, Metered, Stopwatch};
use howdah_vfs::memory::{MemoryFileSystem, MemoryOptions};
use howdah_vfs::{
    Access, AddLink, Caller, Change, Consistency, Create, CreateFile, Data, Detail, Entry, FileSystem,
    FsError, Handle, ListDirectory, MakeDirectory, Name, NewAttributes, Result, SetAttributes, SetTime,
    Stability, Timestamp, WriteFile,
};

const ROOT: Caller = Caller::ROOT;
const DAY: u64 = 86_400;

struct Tree {
    cache: AttributeCache,
    /// The server, as another client sees it.
    server: Arc<Metered>,
    seconds: Arc<AtomicU64>,
    directory: Handle,
}

impl Tree {
    /// A directory with two files, all of it known.
    fn known(options: MemoryOptions) -> Self {
        let seconds = Arc::new(AtomicU64::new(0));
        let clock = Arc::clone(&seconds);
        let stopwatch: Stopwatch = Arc::new(move || Duration::from_secs(clock.load(Ordering::Relaxed)));
        let memory = Arc::new(MemoryFileSystem::with_options(options));
        let server = Arc::new(Metered::around(memory, Arc::clone(&stopwatch)));
        let (new, root) = (NewAttributes::default(), server.root());
        let make = MakeDirectory::new(&root, name("home"), &new);
        let directory = server.make_directory(&ROOT, make, &mut Change::default()).expect("made").handle;
        ["a", "b"].iter().for_each(|file| _ = create(&*server, &directory, file));
        let options = AttributeCacheOptions::alone();
        let disordered = Disordered { inner: Arc::clone(&server) as _, calls: AtomicU64::new(0) };
        let cache = AttributeCache::around(Arc::new(disordered), options, stopwatch);
        let tree = Self { cache, server, seconds, directory };
        let root = tree.cache.root();
        for known in [&root, &tree.directory] {
            tree.cache.access(&ROOT, known, Access::ALL).expect("an answer");
            list(&tree.cache, known);
        }
        tree
    }

    fn look(&self, text: &str) -> Result<Handle> {
        self.cache.lookup(&ROOT, &self.directory, name(text)).map(|found| found.node.handle)
    }

    fn calls(&self) -> u64 {
        let snapshot = self.server.snapshot();
        Call::ALL.iter().map(|call| snapshot.of(*call).count).sum()
    }

    fn later(&self, seconds: u64) {
        self.seconds.fetch_add(seconds, Ordering::Relaxed);
    }

    fn broken(&self) -> Option<String> {
        self.cache.alone().expect("it was believed").broken()
    }
}

fn name(text: &str) -> Name<'_> {
    Name::parse(text.as_bytes()).expect("a name")
}

fn create(fs: &dyn FileSystem, directory: &Handle, text: &str) -> Handle {
    let how = Create::Guarded(NewAttributes::default());
    let made = fs.create(&ROOT, CreateFile::new(directory, name(text), &how), &mut Change::default());
    made.expect("made").handle
}

fn remove(fs: &dyn FileSystem, directory: &Handle, text: &str) {
    fs.remove(&ROOT, directory, name(text), &mut Change::default()).expect("removed");
}

fn list(fs: &dyn FileSystem, directory: &Handle) -> Vec<String> {
    let mut names = Vec::new();
    let mut sink = |entry: Entry<'_>| {
        names.push(String::from_utf8_lossy(entry.name).into_owned());
        ControlFlow::Continue(())
    };
    fs.read_directory(&ROOT, ListDirectory::new(directory, 0, Detail::Nodes), &mut sink).expect("listed");
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    names
}

#[test]
fn nothing_is_asked_again() {
    let tree = Tree::known(MemoryOptions::default());
    let file = tree.look("a").expect("there");
    tree.cache.opened(&ROOT, &file).expect("an answer");
    let before = tree.calls();
    for _ in 0..3 {
        tree.later(DAY);
        assert_eq!(list(&tree.cache, &tree.directory), ["a", "b"]);
        assert_eq!(tree.look("a"), Ok(file));
        assert_eq!(tree.look("none"), Err(FsError::NotFound));
        tree.cache.attributes(&ROOT, &tree.directory).expect("an answer");
        tree.cache.access(&ROOT, &file, Access::READ).expect("an answer");
        tree.cache.opened(&ROOT, &file).expect("an answer");
    }
    assert_eq!((tree.calls(), tree.broken()), (before, None));
}

#[test]
fn what_we_change_stays_known() {
    let tree = Tree::known(MemoryOptions::default());
    let made = create(&tree.cache, &tree.directory, "c");
    tree.cache.opened(&ROOT, &made).expect("an answer");
    let data = WriteFile::new(&made, 0, Data::Bytes(b"data"), Stability::FileSync);
    tree.cache.write(&ROOT, data, &mut Change::default()).expect("written");
    let times = NewAttributes { modified: SetTime::Now, ..NewAttributes::default() };
    let set = SetAttributes::new(&tree.directory, &times, None);
    tree.cache.set_attributes(&ROOT, set, &mut Change::default()).expect("set");
    remove(&tree.cache, &tree.directory, "a");
    let before = tree.calls();
    tree.later(DAY);
    assert_eq!(["a", "b", "c", "d"].map(|text| tree.look(text).is_ok()), [false, true, true, false]);
    assert_eq!(tree.cache.opened(&ROOT, &made).expect("an answer").size, 4);
    assert_eq!(tree.calls(), before, "our own changes are known");
    tree.cache.audit();
    assert_eq!((tree.calls(), tree.broken()), (before + 1, None), "one listing compares them");
    tree.later(DAY);
    assert_eq!(list(&tree.cache, &tree.directory), ["b", "c"]);
    tree.cache.audit();
    assert_eq!(tree.calls(), before + 1, "and is remembered");
}

/// A server whose clock stands still: changes leave no trace in its times.
fn coarse() -> MemoryOptions {
    let clock = Arc::new(|| Timestamp { seconds: 7, nanoseconds: 0 });
    MemoryOptions { clock, ..MemoryOptions::default() }
}

#[test]
fn a_change_by_another_client_is_seen_by_our_next_change() {
    let tree = Tree::known(MemoryOptions::default());
    remove(&*tree.server, &tree.directory, "a");
    create(&*tree.server, &tree.directory, "theirs");
    tree.later(DAY);
    assert!(tree.look("a").is_ok() && tree.look("theirs").is_err(), "believed for ever");
    create(&tree.cache, &tree.directory, "c");
    assert_eq!(tree.broken().as_deref(), Some("home"));
    assert!(tree.look("a").is_err() && tree.look("theirs").is_ok() && tree.look("c").is_ok());
    assert_eq!(list(&tree.cache, &tree.directory), ["b", "c", "theirs"]);
    create(&*tree.server, &tree.directory, "later");
    tree.later(61);
    assert!(tree.look("later").is_ok(), "from now on, what is remembered ages");
    let file = tree.look("c").expect("there");
    let before = tree.calls();
    tree.cache.opened(&ROOT, &file).expect("an answer");
    assert_eq!(tree.calls(), before + 1, "and an open asks");
}

type Strangers = (&'static str, fn(&Tree));

#[test]
fn a_change_that_leaves_no_trace_is_seen_by_a_listing_after_a_rest() {
    let cases: [Strangers; 3] = [
        ("made", |tree| _ = create(&*tree.server, &tree.directory, "theirs")),
        ("removed", |tree| remove(&*tree.server, &tree.directory, "a")),
        ("replaced", |tree| {
            remove(&*tree.server, &tree.directory, "a");
            create(&*tree.server, &tree.directory, "a");
        }),
    ];
    for (what, stranger) in cases {
        let tree = Tree::known(coarse());
        stranger(&tree);
        create(&tree.cache, &tree.directory, "c");
        assert_eq!(tree.broken(), None, "{what}: it leaves no gap");
        tree.later(1);
        tree.cache.audit();
        assert_eq!(tree.broken(), None, "{what}: the directory is not at rest");
        tree.later(1);
        tree.cache.audit();
        assert_eq!(tree.broken().as_deref(), Some("home"), "{what}");
    }
}

#[test]
fn those_who_wait_for_it_hear_that_another_client_changed_a_directory() {
    let tree = Tree::known(MemoryOptions::default());
    let watch = Arc::clone(tree.cache.alone().expect("it is believed"));
    let waits = thread::spawn(move || watch.wait());
    create(&*tree.server, &tree.directory, "theirs");
    create(&tree.cache, &tree.directory, "ours");
    assert_eq!(waits.join().expect("no panic").as_deref(), Some("home"));
}

#[test]
fn those_who_wait_for_it_end_with_the_caches() {
    let options = CachingOptions { attributes: AttributeCacheOptions::alone(), ..CachingOptions::default() };
    let cached = Cached::around(Arc::new(MemoryFileSystem::new()), options);
    let watch = Arc::clone(cached.alone().expect("it is believed"));
    drop(cached);
    assert_eq!(watch.wait(), None);
}

#[test]
fn an_open_with_all_caches_asks_nothing_the_second_time() {
    let server = Arc::new(Metered::around(Arc::new(MemoryFileSystem::new()), Arc::new(Duration::default)));
    let file = create(&*server, &server.root(), "file");
    let options = CachingOptions { attributes: AttributeCacheOptions::alone(), ..CachingOptions::default() };
    let cached = Cached::around(Arc::clone(&server) as _, options);
    cached.opened(&ROOT, &file).expect("an answer");
    cached.opened(&ROOT, &file).expect("an answer");
    assert_eq!(server.snapshot().of(Call::Access).count, 1);
}

#[test]
fn it_conforms_and_takes_no_change_of_ours_for_a_strangers() {
    let caches = Mutex::new(Vec::new());
    let subject = || {
        let stopwatch = Arc::new(Duration::default);
        let options = AttributeCacheOptions::alone();
        let cache = Arc::new(AttributeCache::around(Arc::new(MemoryFileSystem::new()), options, stopwatch));
        caches.lock().expect("no panic").push(Arc::clone(&cache));
        Subject::new(cache, Abilities::default())
    };
    let report = conformance::run(&subject);
    assert!(report.is_success(), "{report}");
    for seed in 0..20 {
        run_operations(seed, 300, &subject).unwrap_or_else(|difference| panic!("{difference}"));
    }
    for cache in caches.lock().expect("no panic").iter() {
        assert_eq!(cache.alone().expect("it was believed").broken(), None);
    }
}

#[test]
fn many_threads_of_ours_are_no_strangers_and_leave_what_is_known_right() {
    const THREADS: u64 = 8;
    const NAMES: u64 = 24;
    for seed in 0..20 {
        let tree = Tree::known(MemoryOptions::default());
        let (cache, root): (&dyn FileSystem, Handle) = (&tree.cache, tree.cache.root());
        let directories = [root, tree.directory];
        thread::scope(|scope| {
            for number in 0..THREADS {
                let mut random = Random::apart(seed, number);
                scope.spawn(move || {
                    for _ in 0..200 {
                        let directory = &directories[random.index(2)];
                        act(cache, directory, &directories[random.index(2)], &mut random, NAMES);
                    }
                });
            }
        });
        assert_eq!(tree.broken(), None, "seed {seed}");
        for directory in &directories {
            for number in 0..NAMES {
                let text = format!("name{number}");
                let look =
                    |fs: &dyn FileSystem| fs.lookup(&ROOT, directory, name(&text)).map(|found| found.node);
                assert_eq!(look(cache), look(&*tree.server), "seed {seed}: {text}");
            }
            assert_eq!(list(cache, directory), list(&*tree.server, directory), "seed {seed}");
            let attributes = |fs: &dyn FileSystem| fs.attributes(&ROOT, directory).expect("there");
            assert_eq!(attributes(cache), attributes(&*tree.server), "seed {seed}");
        }
        tree.later(DAY);
        tree.cache.audit();
        assert_eq!(tree.broken(), None, "seed {seed}: as listed");
    }
}

/// A server whose answers come in another order than it gave them.
struct Disordered {
    inner: Arc<dyn FileSystem>,
    calls: AtomicU64,
}

impl layer::Layer for Disordered {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        let answer = run(&*self.inner);
        let others = howdah_random::mix(self.calls.fetch_add(1, Ordering::Relaxed)) % 8;
        (0..others).for_each(|_| thread::yield_now());
        answer
    }
}

/// Does something to a directory, or with two; refusals are part of it.
fn act(fs: &dyn FileSystem, directory: &Handle, other: &Handle, random: &mut Random, names: u64) {
    let texts = [(); 2].map(|()| format!("name{}", random.below(names)));
    let [one, two] = [0, 1].map(|at| name(&texts[at]));
    let mut changes = (Change::default(), Change::default());
    let _ = match random.below(8) {
        0 => {
            let new = NewAttributes::default();
            fs.make_directory(&ROOT, MakeDirectory::new(directory, one, &new), &mut changes.0).map(drop)
        }
        1 => {
            let how = Create::Guarded(NewAttributes::default());
            fs.create(&ROOT, CreateFile::new(directory, one, &how), &mut changes.0).map(drop)
        }
        2 if random.one_in(2) => fs.remove_directory(&ROOT, directory, one, &mut changes.0),
        2 => fs.remove(&ROOT, directory, one, &mut changes.0),
        3 => fs.rename(&ROOT, (directory, one), (other, two), (&mut changes.0, &mut changes.1)),
        4 => fs.lookup(&ROOT, directory, one).and_then(|found| {
            let link = AddLink::new(&found.node.handle, other, two);
            fs.link(&ROOT, link, &mut changes.0).map(drop)
        }),
        5 => fs
            .lookup(&ROOT, directory, one)
            .and_then(|found| fs.access(&ROOT, &found.node.handle, Access::ALL).map(drop)),
        6 => {
            let times = NewAttributes { modified: SetTime::Now, ..NewAttributes::default() };
            fs.set_attributes(&ROOT, SetAttributes::new(directory, &times, None), &mut changes.0)
        }
        _ => {
            list(fs, directory);
            fs.attributes(&ROOT, directory).map(drop)
        }
    };
}
