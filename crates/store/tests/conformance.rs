//! The conformance suite on a local directory: on tmpfs and on disk, privileged and not.

mod common;

use std::path::Path;
use std::sync::Arc;

use common::{Place, is_on_memory, is_root, myself, with_and_without_privilege};
use howdah_store::local::{LocalFileSystem, Options, SyncMode};
use howdah_vfs::conformance::{self, Abilities, ActsAs, Subject};

/// Of a large directory: enough for several reads of the kernel's and several of the client's pages.
const MANY: usize = 3000;

/// What a directory in this place can do.
fn abilities(under: &Path) -> Abilities {
    let acts_as = if is_root() { ActsAs::Caller } else { ActsAs::Always(myself()) };
    let replaced_names_keep_their_place = !is_on_memory(under);
    Abilities { acts_as, many_entries: MANY, replaced_names_keep_their_place, ..Abilities::default() }
}

#[test]
fn a_local_directory_conforms() {
    with_and_without_privilege("a_local_directory_conforms", |under| {
        let place = Place::under(under);
        let options = Options { sync: SyncMode::Async, ..place.options() };
        let fs = Arc::new(LocalFileSystem::open(&place.export(), options).expect("the export opens"));
        let report = conformance::run(&|| Subject::new(Arc::clone(&fs) as _, abilities(under)));
        assert!(report.is_success(), "under {}:\n{report}", under.display());
    });
}
