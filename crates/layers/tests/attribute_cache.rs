//! The attribute cache: what it asks, and when.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use howdah_layers::{AttributeCache, AttributeCacheOptions};
use howdah_vfs::layer::{Call, Metered, Stopwatch};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{Caller, Change, Create, Data, FileSystem, FsError, Handle, Name, NewAttributes, Stability};

const ROOT: Caller = Caller::ROOT;

/// A cache over a counted file system, the way past the cache, and a clock in seconds.
fn cached() -> (AttributeCache, Arc<Metered>, Arc<AtomicU64>) {
    let seconds = Arc::new(AtomicU64::new(0));
    let clock = Arc::clone(&seconds);
    let stopwatch: Stopwatch = Arc::new(move || Duration::from_secs(clock.load(Ordering::Relaxed)));
    let inner = Arc::new(Metered::around(Arc::new(MemoryFileSystem::new()), Arc::clone(&stopwatch)));
    let cache = AttributeCache::around(Arc::clone(&inner) as _, AttributeCacheOptions::default(), stopwatch);
    (cache, inner, seconds)
}

fn name(text: &str) -> Name<'_> {
    Name::parse(text.as_bytes()).expect("a name")
}

fn create(fs: &dyn FileSystem, text: &str) -> Handle {
    let how = Create::Unchecked(NewAttributes::default());
    fs.create(&ROOT, &fs.root(), name(text), &how, &mut Change::default()).expect("made").handle
}

fn write(fs: &dyn FileSystem, node: &Handle, data: &[u8]) {
    let data = Data::Bytes(data);
    fs.write(&ROOT, node, 0, data, Stability::FileSync, &mut Change::default()).expect("written");
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
