//! Each layer around a file system is judged as that file system is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use howdah_layers::{
    AttributeCache, AttributeCacheOptions, CacheDirectory, CacheStorage, Cached, CachingOptions, DiskCache,
    DiskCacheOptions, ReadAhead, ReadAheadOptions, WriteBehind, WriteBehindOptions,
};
use howdah_vfs::FileSystem;
use howdah_vfs::conformance::operations::run_operations;
use howdah_vfs::conformance::{self, Abilities, Subject};
use howdah_vfs::layer::Stopwatch;
use howdah_vfs::memory::MemoryFileSystem;

/// Lists of operations, and how long each is.
const LISTS: u64 = 20;
const OPERATIONS: usize = 300;

fn stopwatch() -> Stopwatch {
    let start = Instant::now();
    Arc::new(move || start.elapsed())
}

fn conforms(layer: impl Fn(Arc<dyn FileSystem>) -> Arc<dyn FileSystem>) {
    let subject = || Subject::new(layer(Arc::new(MemoryFileSystem::new())), Abilities::default());
    let report = conformance::run(&subject);
    assert!(report.is_success(), "{report}");
    assert_eq!(report.skipped().count(), 0, "{report}");
    for seed in 0..LISTS {
        run_operations(seed, OPERATIONS, &subject).unwrap_or_else(|difference| panic!("{difference}"));
    }
}

/// A place for a cache on disk: each cache is of another server, since handles of different file systems in memory are the same.
fn disk(directory: &tempfile::TempDir) -> impl Fn() -> (Arc<dyn CacheStorage>, DiskCacheOptions) {
    let storage = Arc::new(CacheDirectory::open(directory.path()).expect("a cache"));
    let servers = AtomicU64::new(0);
    move || {
        let server = format!("server {}", servers.fetch_add(1, Ordering::Relaxed));
        (Arc::clone(&storage) as _, DiskCacheOptions::new(64 << 20, server))
    }
}

fn cache(inner: Arc<dyn FileSystem>) -> Arc<dyn FileSystem> {
    Arc::new(AttributeCache::around(inner, AttributeCacheOptions::default(), stopwatch()))
}

#[test]
fn an_attribute_cache_conforms() {
    conforms(cache);
}

#[test]
fn a_tiny_attribute_cache_conforms() {
    let options = AttributeCacheOptions { entries: 4, ..AttributeCacheOptions::default() };
    conforms(|inner| Arc::new(AttributeCache::around(inner, options, stopwatch())));
}

#[test]
fn a_read_ahead_conforms() {
    for block in [512, 4096, 1 << 20] {
        let options = ReadAheadOptions { block, ..ReadAheadOptions::default() };
        conforms(|inner| Arc::new(ReadAhead::around(inner, options)));
    }
}

#[test]
fn a_write_behind_conforms() {
    for block in [512, 4096, 1 << 20] {
        let options = WriteBehindOptions { block, ..WriteBehindOptions::default() };
        conforms(|inner| Arc::new(WriteBehind::around(inner, options)));
    }
}

#[test]
fn a_cache_on_disk_conforms() {
    let directory = tempfile::tempdir().expect("a directory");
    let place = disk(&directory);
    conforms(|inner| {
        let (storage, options) = place();
        Arc::new(DiskCache::around(inner, storage, options))
    });
}

#[test]
fn all_layers_together_with_a_disk_conform() {
    let directory = tempfile::tempdir().expect("a directory");
    let place = disk(&directory);
    conforms(|inner| Arc::new(Cached::on_disk(inner, CachingOptions::default(), place())));
}

#[test]
fn all_layers_together_conform() {
    for size in [512, 4096, 1 << 20] {
        let options = CachingOptions { read_size: size, write_size: size, ..CachingOptions::default() };
        conforms(|inner| Arc::new(Cached::around(inner, options)));
    }
}
