//! Random lists of calls show no difference where there is none, and a small one where there is.

use std::sync::Arc;

use howdah_vfs::Caller;
use howdah_vfs::conformance::operations::run_operations;
use howdah_vfs::conformance::{Abilities, ActsAs, Subject};
use howdah_vfs::memory::{MemoryFileSystem, MemoryOptions};

fn memory(acts_as: ActsAs) -> Subject {
    let options = MemoryOptions { root_mode: 0o777, ..MemoryOptions::default() };
    let abilities = Abilities { acts_as, ..Abilities::default() };
    Subject::new(Arc::new(MemoryFileSystem::with_options(options)), abilities)
}

#[test]
fn memory_equals_memory() {
    for seed in 0..200 {
        run_operations(seed, 300, &|| memory(ActsAs::Caller))
            .unwrap_or_else(|difference| panic!("{difference}"));
    }
}

#[test]
fn memory_equals_memory_for_one_user() {
    let user = ActsAs::Always(Caller::new(1001, 1001));
    for seed in 0..50 {
        run_operations(seed, 300, &|| memory(user.clone()))
            .unwrap_or_else(|difference| panic!("{difference}"));
    }
}
