//! The attribute cache where many changes of ours to one directory overlap, and where a name goes away that nobody looked up.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use howdah_layers::{AttributeCache, AttributeCacheOptions};
use howdah_vfs::layer::{self, Call, Metered};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    Access, AddLink, Caller, Change, Create, CreateFile, Detail, FileSystem, FsError, Handle, ListDirectory,
    MakeDirectory, Name, NewAttributes, Node, Result,
};
use parking_lot::{Condvar, Mutex};

const ROOT: Caller = Caller::ROOT;
/// A machine that is busy takes no longer.
const PATIENCE: Duration = Duration::from_secs(60);
const CREATES: usize = 300;

/// A server that answers CREATEs when so many of them are served.
struct Together {
    inner: Arc<dyn FileSystem>,
    served: Mutex<usize>,
    wanted: usize,
    all: Condvar,
}

impl layer::Layer for Together {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&*self.inner)
    }

    fn create(&self, caller: &Caller, create: CreateFile<'_>, change: &mut Change) -> Result<Node> {
        let made = self.inner.create(caller, create, change);
        let mut served = self.served.lock();
        *served += 1;
        if *served >= self.wanted {
            self.all.notify_all();
        }
        self.all.wait_while_for(&mut served, |served| *served < self.wanted, PATIENCE);
        made
    }
}

/// A cache over a server that answers so many CREATEs together, and the way past the cache.
fn cached(together: usize) -> (AttributeCache, Arc<Metered>) {
    let stopwatch = || Arc::new(Duration::default);
    let metered = Arc::new(Metered::around(Arc::new(MemoryFileSystem::new()), stopwatch()));
    let (inner, served) = (Arc::clone(&metered) as _, Mutex::new(0));
    let server = Together { inner, served, wanted: together, all: Condvar::new() };
    let cache = AttributeCache::around(Arc::new(server), AttributeCacheOptions::default(), stopwatch());
    (cache, metered)
}

fn create(fs: &dyn FileSystem, directory: &Handle, text: &str) -> Handle {
    let name = Name::parse(text.as_bytes()).expect("a name");
    let how = Create::Guarded(NewAttributes::default());
    let made = fs.create(&ROOT, CreateFile::new(directory, name, &how), &mut Change::default());
    made.expect("made").handle
}

fn look(fs: &dyn FileSystem, directory: &Handle, text: &str) -> Result<Handle> {
    let name = Name::parse(text.as_bytes()).expect("a name");
    fs.lookup(&ROOT, directory, name).map(|found| found.node.handle)
}

fn list(fs: &dyn FileSystem, directory: &Handle) {
    let list = ListDirectory::new(directory, 0, Detail::Nodes);
    fs.read_directory(&ROOT, list, &mut |_| ControlFlow::Continue(())).expect("listed");
}

fn asked(metered: &Metered) -> u64 {
    let snapshot = metered.snapshot();
    [Call::Lookup, Call::Attributes, Call::Access, Call::ReadDirectory]
        .map(|call| snapshot.of(call).count)
        .iter()
        .sum()
}

/// Brings a cache to know all of a directory: its attributes, rights and names.
fn learn(fs: &dyn FileSystem, directory: &Handle) {
    fs.access(&ROOT, directory, Access::ALL).expect("an answer");
    list(fs, directory);
}

fn create_all(cache: &AttributeCache, directory: &Handle) {
    thread::scope(|scope| {
        for number in 0..CREATES {
            scope.spawn(move || create(cache, directory, &format!("file{number}")));
        }
    });
}

#[test]
fn names_and_rights_stay_known_while_changes_of_ours_overlap() {
    let (cache, metered) = cached(CREATES);
    let root = cache.root();
    learn(&cache, &root);
    let before = asked(&metered);
    create_all(&cache, &root);
    for number in 0..CREATES {
        assert!(look(&cache, &root, &format!("file{number}")).is_ok());
    }
    assert_eq!(look(&cache, &root, "none"), Err(FsError::NotFound));
    cache.access(&ROOT, &root, Access::ALL).expect("an answer");
    assert_eq!(asked(&metered), before, "nothing had to be asked");
}

#[test]
fn a_stranger_among_changes_of_ours_is_seen() {
    let (cache, metered) = cached(CREATES + 1);
    let root = cache.root();
    learn(&cache, &root);
    thread::scope(|scope| {
        scope.spawn(|| create_all(&cache, &root));
        // Answers wait for one more CREATE: between them and the last of ours, a stranger removes and makes names.
        while look(&*metered, &root, "file7").is_err() {
            thread::yield_now();
        }
        let name = Name::parse(b"file7").expect("a name");
        metered.remove(&ROOT, &root, name, &mut Change::default()).expect("removed by another");
        create(&*metered, &root, "theirs");
        create(&cache, &root, "last");
    });
    assert_eq!(look(&cache, &root, "file7"), Err(FsError::NotFound));
    assert!(look(&cache, &root, "theirs").is_ok());
}

#[test]
fn a_removal_of_a_name_that_nobody_looked_up_leaves_others_known() {
    let (cache, metered) = cached(0);
    let (new, change) = (NewAttributes::default(), &mut Change::default());
    let name = |text: &'static str| Name::parse(text.as_bytes()).expect("a name");
    let root = cache.root();
    let make = MakeDirectory::new(&root, name("known"), &new);
    let known = cache.make_directory(&ROOT, make, change).expect("made").handle;
    let file = create(&cache, &known, "file");
    let linked = create(&cache, &known, "linked");
    let theirs = ["removed", "linked too"].map(|text| create(&*metered, &root, text));
    metered.link(&ROOT, AddLink::new(&linked, &root, name("link")), change).expect("linked by another");
    assert_eq!(cache.revalidate(&ROOT, &linked).expect("there").links, 2);
    cache.remove(&ROOT, &root, name("removed"), change).expect("removed");
    cache.remove(&ROOT, &root, name("link"), change).expect("removed");
    let before = asked(&metered);
    assert_eq!(look(&cache, &known, "file"), Ok(file));
    assert_eq!(look(&cache, &known, "none"), Err(FsError::NotFound));
    assert_eq!(asked(&metered), before, "what has one link stays known");
    assert_eq!(cache.attributes(&ROOT, &linked).expect("there").links, 1, "what had several is asked for");
    assert_eq!(look(&*metered, &root, "linked too"), Ok(theirs[1]));
}

#[test]
fn two_names_of_one_file_stay_when_one_is_renamed_to_the_other() {
    let (cache, _) = cached(0);
    let root = cache.root();
    let file = create(&cache, &root, "one");
    let [one, other] = [b"one", b"two"].map(|name| Name::parse(name).expect("a name"));
    cache.link(&ROOT, AddLink::new(&file, &root, other), &mut Change::default()).expect("linked");
    learn(&cache, &root);
    let changes = (&mut Change::default(), &mut Change::default());
    cache.rename(&ROOT, (&root, one), (&root, other), changes).expect("nothing happens");
    assert_eq!(["one", "two"].map(|name| look(&cache, &root, name)), [Ok(file), Ok(file)]);
}
