//! The attribute cache: what it asks, and when.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use howdah_layers::{AttributeCache, AttributeCacheOptions, LookupCache};
use howdah_vfs::layer::{Call, Metered, Stopwatch};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    Access, Attributes, Caller, Change, Create, CreateFile, Data, DelegationLoss, DelegationLost, Detail,
    DirectoryDelegations, Entry, FileSystem, FsError, Handle, ListDirectory, MakeDirectory, Name,
    NewAttributes, Result, Stability, WriteFile,
};

const ROOT: Caller = Caller::ROOT;

/// A cache over a counted file system, the way past the cache, and a clock in seconds.
fn cached() -> (AttributeCache, Arc<Metered>, Arc<AtomicU64>) {
    cached_with(AttributeCacheOptions::default())
}

fn cached_with(options: AttributeCacheOptions) -> (AttributeCache, Arc<Metered>, Arc<AtomicU64>) {
    let seconds = Arc::new(AtomicU64::new(0));
    let clock = Arc::clone(&seconds);
    let stopwatch: Stopwatch = Arc::new(move || Duration::from_secs(clock.load(Ordering::Relaxed)));
    let inner = Arc::new(Metered::around(Arc::new(MemoryFileSystem::new()), Arc::clone(&stopwatch)));
    let cache = AttributeCache::around(Arc::clone(&inner) as _, options, stopwatch);
    (cache, inner, seconds)
}

fn name(text: &str) -> Name<'_> {
    Name::parse(text.as_bytes()).expect("a name")
}

fn create(fs: &dyn FileSystem, text: &str) -> Handle {
    let how = Create::Unchecked(NewAttributes::default());
    fs.create(&ROOT, CreateFile::new(&fs.root(), name(text), &how), &mut Change::default())
        .expect("made")
        .handle
}

fn write(fs: &dyn FileSystem, node: &Handle, data: &[u8]) {
    let data = Data::Bytes(data);
    fs.write(&ROOT, WriteFile::new(node, 0, data, Stability::FileSync), &mut Change::default())
        .expect("written");
}

fn calls(metered: &Metered, call: Call) -> u64 {
    metered.snapshot().of(call).count
}

#[test]
fn what_is_known_is_not_asked_again_until_it_ages() {
    let (cache, inner, seconds) = cached();
    let file = create(&cache, "file");
    let size = |fs: &dyn FileSystem| fs.attributes(&ROOT, &file).expect("attributes").size;
    write(&cache, &file, b"ours");
    assert_eq!((size(&cache), calls(&inner, Call::Attributes)), (4, 0), "a change of our own tells the size");
    write(&*inner, &file, b"theirs");
    assert_eq!(size(&cache), 4, "believed");
    assert_eq!(cache.revalidate(&ROOT, &file).expect("attributes").size, 6, "an open asks");
    write(&*inner, &file, b"theirs again");
    seconds.store(4, Ordering::Relaxed);
    assert_eq!(size(&cache), 12, "it has aged");
    // Quiet since: believed for longer and longer.
    seconds.store(8, Ordering::Relaxed);
    size(&cache);
    let asked = calls(&inner, Call::Attributes);
    seconds.store(13, Ordering::Relaxed);
    size(&cache);
    assert_eq!(calls(&inner, Call::Attributes), asked);
}

#[test]
fn names_are_known_until_somebody_else_changes_the_directory() {
    let (cache, inner, seconds) = cached();
    let (root, file) = (cache.root(), create(&cache, "file"));
    let look = |text: &str| cache.lookup(&ROOT, &root, name(text)).map(|found| found.node.handle);
    assert_eq!(look("file"), Ok(file));
    let asked = calls(&inner, Call::Lookup);
    create(&cache, "another");
    assert_eq!(
        (look("file"), calls(&inner, Call::Lookup)),
        (Ok(file), asked),
        "our own change spoils nothing"
    );
    inner.remove(&ROOT, &root, name("file"), &mut Change::default()).expect("removed behind our back");
    seconds.store(31, Ordering::Relaxed);
    assert_eq!(look("file"), Err(FsError::NotFound));
}

fn list(fs: &dyn FileSystem, directory: &Handle) -> Vec<String> {
    let mut names = Vec::new();
    let mut sink = |entry: Entry<'_>| {
        names.push(String::from_utf8_lossy(entry.name).into_owned());
        ControlFlow::Continue(())
    };
    assert!(
        fs.read_directory(&ROOT, ListDirectory::new(directory, 0, Detail::Nodes), &mut sink)
            .expect("listed")
            .end
    );
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    names
}

#[test]
fn names_that_are_not_there_are_known_while_the_directory_is() {
    let (cache, inner, seconds) = cached();
    let root = cache.root();
    let look = |text: &str| cache.lookup(&ROOT, &root, name(text)).map(drop);
    cache.attributes(&ROOT, &root).expect("known");
    assert_eq!((look("file"), look("file")), (Err(FsError::NotFound), Err(FsError::NotFound)));
    assert_eq!(calls(&inner, Call::Lookup), 1, "it was told once");
    create(&cache, "file");
    assert_eq!((look("file"), calls(&inner, Call::Lookup)), (Ok(()), 1), "we made it");
    assert_eq!(look("theirs"), Err(FsError::NotFound));
    create(&*inner, "theirs");
    seconds.store(31, Ordering::Relaxed);
    assert_eq!(look("theirs"), Ok(()), "made behind our back, and seen when the directory has aged");
}

#[test]
fn in_a_directory_that_we_made_there_is_what_we_put_there() {
    let (cache, inner, _) = cached();
    let (change, new) = (&mut Change::default(), NewAttributes::default());
    let directory = cache
        .make_directory(&ROOT, MakeDirectory::new(&cache.root(), name("new"), &new), change)
        .expect("made")
        .handle;
    let look = |text: &str| cache.lookup(&ROOT, &directory, name(text)).map(drop);
    let how = Create::Guarded(NewAttributes::default());
    for text in ["a", "b", "c"] {
        assert_eq!(look(text), Err(FsError::NotFound));
        cache
            .create(&ROOT, CreateFile::new(&directory, name(text), &how), &mut Change::default())
            .expect("made");
        assert_eq!(look(text), Ok(()));
    }
    let changes = (&mut Change::default(), &mut Change::default());
    cache.rename(&ROOT, (&directory, name("a")), (&directory, name("d")), changes).expect("renamed");
    cache.remove(&ROOT, &directory, name("b"), &mut Change::default()).expect("removed");
    assert_eq!(["a", "b", "c", "e"].map(look).map(|found| found.is_ok()), [false, false, true, false]);
    assert_eq!(calls(&inner, Call::Lookup), 0, "nothing had to be asked");
    assert_eq!(look("d"), Ok(()));
    // A stranger may not be allowed to look.
    assert_eq!(cache.lookup(&Caller::new(7, 7), &directory, name("x")).map(drop), Err(FsError::AccessDenied));
    assert_eq!(calls(&inner, Call::Lookup), 2);
    assert_eq!(list(&cache, &directory), ["c", "d"]);
}

#[test]
fn a_directory_is_listed_once_until_it_changes() {
    let (cache, inner, seconds) = cached();
    let root = cache.root();
    for number in 0..1000 {
        create(&*inner, &format!("file{number:03}"));
    }
    cache.access(&ROOT, &root, Access::ALL).expect("told");
    let expected = list(&*inner, &root);
    let asked = calls(&inner, Call::ReadDirectory);
    assert!(list(&cache, &root) == expected && list(&cache, &root) == expected);
    assert_eq!(calls(&inner, Call::ReadDirectory), asked + 1);
    // In parts, as the kernel asks.
    let (mut parts, mut cookie) = (Vec::new(), 0);
    loop {
        let (mut room, from) = (10, cookie);
        let mut sink = |entry: Entry<'_>| {
            if room == 0 {
                return ControlFlow::Break(());
            }
            room -= 1;
            assert!(entry.node.is_some());
            parts.push(String::from_utf8_lossy(entry.name).into_owned());
            cookie = entry.cookie;
            ControlFlow::Continue(())
        };
        let listing = cache
            .read_directory(&ROOT, ListDirectory::new(&root, from, Detail::Nodes), &mut sink)
            .expect("listed");
        if listing.end {
            break;
        }
    }
    parts.retain(|name| !name.starts_with('.'));
    assert_eq!((parts.len(), calls(&inner, Call::ReadDirectory)), (1000, asked + 1));
    assert_eq!(cache.lookup(&ROOT, &root, name("none")).map(drop), Err(FsError::NotFound));
    cache.lookup(&ROOT, &root, name("file500")).expect("found");
    assert_eq!(calls(&inner, Call::Lookup), 0);
    create(&cache, "ours");
    assert_eq!(list(&cache, &root).len(), 1001, "our own change is seen at once");
    create(&*inner, "theirs");
    seconds.store(31, Ordering::Relaxed);
    assert_eq!(list(&cache, &root).len(), 1002, "another's when the directory has aged");
}

/// Brings a cache to know that there is no `flag` in a directory.
type Absence = (&'static str, fn(&AttributeCache, &Metered) -> Handle);

/// Each way to know that a name is not there.
const ABSENCES: [Absence; 5] = [
    ("a whole listing", |cache, inner| {
        create(inner, "other");
        cache.access(&ROOT, &cache.root(), Access::ALL).expect("told");
        list(cache, &cache.root());
        cache.root()
    }),
    ("a look for the name", |cache, _| {
        cache.attributes(&ROOT, &cache.root()).expect("known");
        assert_eq!(cache.lookup(&ROOT, &cache.root(), name("flag")).map(drop), Err(FsError::NotFound));
        cache.root()
    }),
    ("a directory of our own", |cache, _| {
        let (change, new) = (&mut Change::default(), NewAttributes::default());
        cache
            .make_directory(&ROOT, MakeDirectory::new(&cache.root(), name("new"), &new), change)
            .expect("made")
            .handle
    }),
    ("a removal of our own", |cache, _| {
        cache.access(&ROOT, &cache.root(), Access::ALL).expect("told");
        create(cache, "flag");
        list(cache, &cache.root());
        cache.remove(&ROOT, &cache.root(), name("flag"), &mut Change::default()).expect("removed");
        cache.root()
    }),
    ("a rename of our own", |cache, _| {
        cache.access(&ROOT, &cache.root(), Access::ALL).expect("told");
        create(cache, "flag");
        list(cache, &cache.root());
        let (root, changes) = (cache.root(), (&mut Change::default(), &mut Change::default()));
        cache.rename(&ROOT, (&root, name("flag")), (&root, name("taken")), changes).expect("renamed");
        root
    }),
];

#[test]
fn what_another_host_made_is_found_a_second_later_however_its_absence_was_known() {
    for (known_by, learn) in ABSENCES {
        let (cache, inner, seconds) = cached();
        let directory = learn(&cache, &inner);
        let asked = || (calls(&inner, Call::Lookup), calls(&inner, Call::Attributes));
        let look = || cache.lookup(&ROOT, &directory, name("flag")).map(drop);
        let before = asked();
        assert_eq!((look(), asked()), (Err(FsError::NotFound), before), "{known_by}: known");
        seconds.fetch_add(1, Ordering::Relaxed);
        for _ in 0..10 {
            assert_eq!(look(), Err(FsError::NotFound), "{known_by}");
        }
        assert_eq!(
            asked(),
            (before.0, before.1 + 1),
            "{known_by}: one look for all names that are not there"
        );
        let how = Create::Guarded(NewAttributes::default());
        inner
            .create(&ROOT, CreateFile::new(&directory, name("flag"), &how), &mut Change::default())
            .expect("made by another");
        seconds.fetch_add(1, Ordering::Relaxed);
        assert_eq!(look(), Ok(()), "{known_by}");
    }
}

#[test]
fn a_mount_option_says_which_names_are_remembered() {
    let usual = AttributeCacheOptions::default();
    let times = |options: AttributeCacheOptions| {
        let count = |text: &str| {
            let (cache, inner, seconds) = cached_with(options);
            create(&*inner, "there");
            cache.attributes(&ROOT, &cache.root()).expect("known");
            let _ = cache.lookup(&ROOT, &cache.root(), name(text));
            let before = calls(&inner, Call::Lookup) + calls(&inner, Call::Attributes);
            let _ = cache.lookup(&ROOT, &cache.root(), name(text));
            seconds.fetch_add(2, Ordering::Relaxed);
            let _ = cache.lookup(&ROOT, &cache.root(), name(text));
            calls(&inner, Call::Lookup) + calls(&inner, Call::Attributes) - before
        };
        [count("there"), count("absent")]
    };
    assert_eq!(times(usual), [0, 1], "the second look for what is absent");
    assert_eq!(times(AttributeCacheOptions { absence: Duration::MAX, ..usual }), [0, 0]);
    assert_eq!(times(AttributeCacheOptions { lookups: LookupCache::Positive, ..usual }), [0, 2]);
    assert_eq!(times(AttributeCacheOptions { lookups: LookupCache::None, ..usual }), [2, 2]);
}

/// A file system whose server delegates every directory that it is asked for.
struct Delegating {
    inner: Arc<Metered>,
    lost: OnceLock<DelegationLost>,
    held: Mutex<HashSet<Handle>>,
    is_certain: AtomicBool,
    covers: AtomicBool,
}

impl howdah_vfs::layer::Layer for Delegating {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&*self.inner)
    }

    fn directory_delegations(&self) -> Option<&dyn DirectoryDelegations> {
        Some(self)
    }
}

impl DirectoryDelegations for Delegating {
    fn watch(&self, lost: DelegationLost) {
        let _ = self.lost.set(lost);
    }

    fn also_tell(&self, _: DelegationLost) {}

    fn look(&self, caller: &Caller, directory: &Handle) -> Result<Attributes> {
        self.held.lock().expect("unpoisoned").insert(*directory);
        FileSystem::attributes(&*self.inner, caller, directory)
    }

    fn holds(&self, directory: &Handle) -> bool {
        self.held.lock().expect("unpoisoned").contains(directory)
    }

    fn covers_children(&self, directory: &Handle) -> bool {
        self.covers.load(Ordering::Relaxed) && self.holds(directory)
    }

    fn count(&self) -> usize {
        self.held.lock().expect("unpoisoned").len()
    }

    fn are_certain(&self) -> bool {
        self.is_certain.load(Ordering::Relaxed)
    }
}

impl Delegating {
    fn around(inner: &Arc<Metered>, covers: bool) -> Self {
        let (lost, held) = Default::default();
        let (is_certain, covers) = (AtomicBool::new(true), AtomicBool::new(covers));
        Self { inner: Arc::clone(inner), lost, held, is_certain, covers }
    }

    /// Ends delegations as a client does: they are not held any more, and then who watches hears of it.
    fn lose(&self, loss: DelegationLoss) {
        self.held.lock().expect("unpoisoned").clear();
        self.lost.get().expect("somebody watches")(loss);
    }
}

#[test]
fn a_delegated_directory_does_not_age() {
    let (_, inner, seconds) = cached();
    let clock = Arc::clone(&seconds);
    let stopwatch: Stopwatch = Arc::new(move || Duration::from_secs(clock.load(Ordering::Relaxed)));
    let delegating = Arc::new(Delegating::around(&inner, false));
    let options = AttributeCacheOptions::default();
    let cache = AttributeCache::around(Arc::clone(&delegating) as _, options, stopwatch);
    let root = cache.root();
    create(&*inner, "file");
    assert_eq!(cache.report().delegated_directories, 0);
    let age = || _ = seconds.fetch_add(1_000, Ordering::Relaxed);
    let look = |text: &str| cache.lookup(&ROOT, &root, name(text)).is_ok();
    let asked = || calls(&inner, Call::Lookup) + calls(&inner, Call::Attributes);
    cache.revalidate(&ROOT, &root).expect("attributes");
    // It is known to be a directory now, and asked for as one.
    cache.revalidate(&ROOT, &root).expect("attributes");
    assert!(look("file") && !look("none"));
    for _ in 0..3 {
        let before = asked();
        age();
        assert!(!look("none"));
        cache.attributes(&ROOT, &root).expect("attributes");
        assert_eq!(asked(), before, "nobody else changes it");
    }
    assert_eq!(cache.report().delegated_directories, 1);
    // While it is not certain, it ages as any other does.
    delegating.is_certain.store(false, Ordering::Relaxed);
    assert!(!cache.knows_attributes(&root));
    delegating.is_certain.store(true, Ordering::Relaxed);
    assert!(cache.knows_attributes(&root));
    // It is recalled, and changes: the next question goes to the server, however young the answer is.
    cache.revalidate(&ROOT, &root).expect("attributes");
    assert!(!look("none"));
    delegating.lose(DelegationLoss::Of(root));
    create(&*inner, "none");
    assert!(look("none"));
    // All are lost: what is known is as old as it is.
    cache.revalidate(&ROOT, &root).expect("attributes");
    assert!(cache.knows_attributes(&root));
    age();
    assert!(cache.knows_attributes(&root));
    delegating.lose(DelegationLoss::All);
    assert!(!cache.knows_attributes(&root));
}

#[test]
fn what_is_in_a_directory_that_covers_it_does_not_age() {
    for covers in [false, true] {
        let (_, inner, seconds) = cached();
        let clock = Arc::clone(&seconds);
        let stopwatch: Stopwatch = Arc::new(move || Duration::from_secs(clock.load(Ordering::Relaxed)));
        let delegating = Arc::new(Delegating::around(&inner, covers));
        let options = AttributeCacheOptions::default();
        let cache = AttributeCache::around(Arc::clone(&delegating) as _, options, stopwatch);
        let root = cache.root();
        let [listed, found] = ["listed", "found"].map(|text| {
            create(&*inner, text);
            inner.lookup(&ROOT, &root, name(text)).expect("it is there").node.handle
        });
        // The second time it is known to be a directory, and asked for as one.
        (0..2).for_each(|_| _ = cache.revalidate(&ROOT, &root).expect("attributes"));
        cache.lookup(&ROOT, &root, name("found")).expect("it is there");
        let age = || _ = seconds.fetch_add(1_000, Ordering::Relaxed);
        age();
        assert_eq!((cache.knows_attributes(&found), cache.knows_attributes(&listed)), (covers, false));
        list(&cache, &root);
        age();
        assert_eq!([found, listed].map(|node| cache.knows_attributes(&node)), [covers; 2]);
        delegating.is_certain.store(false, Ordering::Relaxed);
        assert_eq!([found, listed].map(|node| cache.knows_attributes(&node)), [false; 2]);
        delegating.is_certain.store(true, Ordering::Relaxed);
        // Somebody else changes one of them: all are asked for once more, however young they are.
        cache.attributes(&ROOT, &listed).expect("attributes");
        assert!(cache.knows_attributes(&listed));
        delegating.lose(DelegationLoss::Of(root));
        assert_eq!(cache.knows_attributes(&listed), !covers);
        cache.attributes(&ROOT, &listed).expect("attributes");
        assert!(cache.knows_attributes(&listed));
        age();
        assert!(!cache.knows_attributes(&listed), "nothing covers it");
    }
}
