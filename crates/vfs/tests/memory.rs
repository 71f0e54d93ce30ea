//! The file system in memory passes the conformance suite.

use std::sync::Arc;

use howdah_vfs::conformance::{self, Abilities, Subject};
use howdah_vfs::memory::MemoryFileSystem;

#[test]
fn memory_conforms() {
    let report = conformance::run(&|| Subject::new(Arc::new(MemoryFileSystem::new()), Abilities::default()));
    assert!(report.is_success(), "{report}");
}
