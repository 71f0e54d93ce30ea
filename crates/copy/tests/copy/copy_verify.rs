//! Copies that are read back.

use std::sync::{Arc, Condvar, Mutex};

use howdah_copy::CopyOptions;
use howdah_vfs::memory::MemoryFileSystem;

use crate::copying::random::Random;
use crate::copying::tree::Files;
use crate::copying::trouble::InPairs;
use crate::copying::{copy, options};

#[test]
fn a_large_file_is_read_back_by_several_at_the_same_time() {
    let (from, to) = (Files(Arc::new(MemoryFileSystem::new())), Arc::new(MemoryFileSystem::new()));
    let bytes = Random::new(1).bytes(4_000_000);
    let file = from.file(&from.root().handle, "big", bytes.len() as u64, &[(0, bytes)]);
    let pairs = InPairs { inner: Arc::clone(&to) as _, reads: Mutex::default(), news: Condvar::new() };
    let pairs = Arc::new(pairs);
    let options = CopyOptions { verify: true, jobs: Some(4), ..options() };
    let (outcome, heard) = copy(&from, file, &Files(Arc::clone(&pairs) as _), "copy", options);
    assert_eq!(outcome.figures.errors, 0, "{:?}", heard.all());
    assert!(pairs.reads.lock().expect("nobody panicked").1 >= 2, "one alone read all");
}
