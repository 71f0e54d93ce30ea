//! Each layer around a file system is judged as that file system is.

use std::sync::Arc;
use std::time::Instant;

use howdah_layers::{
    AttributeCache, AttributeCacheOptions, Cached, CachingOptions, ReadAhead, ReadAheadOptions, WriteBehind,
    WriteBehindOptions,
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
fn all_layers_together_conform() {
    for size in [512, 4096, 1 << 20] {
        let options = CachingOptions { read_size: size, write_size: size, ..CachingOptions::default() };
        conforms(|inner| Arc::new(Cached::around(inner, options)));
    }
}
