//! Many threads at once in one directory of the file system in memory leave it in order.

use std::sync::Arc;

use howdah_vfs::conformance::operations::{Arena, run_operations};
use howdah_vfs::conformance::{Abilities, Subject};
use howdah_vfs::memory::{MemoryFileSystem, MemoryOptions};

const THREADS: u64 = 4;

#[test]
fn threads_in_one_directory_leave_it_in_order() {
    let options = MemoryOptions { root_mode: 0o777, ..MemoryOptions::default() };
    let fs = Arc::new(MemoryFileSystem::with_options(options));
    let subject = || Subject::new(Arc::clone(&fs) as _, Abilities::default());
    let arena = Arena::new(&subject()).expect("an arena");
    std::thread::scope(|scope| {
        let work = |seed| arena.work(&subject(), seed, 5_000).unwrap_or_else(|wrong| panic!("{wrong}"));
        (0..THREADS).for_each(|seed| drop(scope.spawn(move || work(seed))));
    });
    arena.check(&subject()).unwrap_or_else(|wrong| panic!("{wrong}"));
}

#[test]
fn threads_in_directories_of_their_own_do_not_meet() {
    let options = MemoryOptions { root_mode: 0o777, ..MemoryOptions::default() };
    let fs = Arc::new(MemoryFileSystem::with_options(options));
    let subject = || Subject::new(Arc::clone(&fs) as _, Abilities::default());
    std::thread::scope(|scope| {
        let work = |seed| run_operations(seed, 2_000, &subject).unwrap_or_else(|wrong| panic!("{wrong}"));
        (0..THREADS).for_each(|seed| drop(scope.spawn(move || work(seed))));
    });
}
