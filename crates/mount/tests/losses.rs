//! A server says that another client is about to change a directory: programs see the change at once.

mod support;

use std::fs;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use howdah_mount::MountOptions;
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    Attributes, Caller, Change, Create, CreateFile, DelegationLoss, DelegationLost, DirectoryDelegations,
    FileSystem, Handle, Name, NewAttributes, Result,
};
use support::Mount;

const ROOT: Caller = Caller::ROOT;

/// A file system whose directories are delegated.
#[derive(Default)]
struct Delegating {
    inner: MemoryFileSystem,
    lost: Mutex<Vec<DelegationLost>>,
}

impl Layer for Delegating {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&self.inner)
    }

    fn directory_delegations(&self) -> Option<&dyn DirectoryDelegations> {
        Some(self)
    }
}

impl DirectoryDelegations for Delegating {
    fn watch(&self, _: DelegationLost) {}

    fn also_tell(&self, lost: DelegationLost) {
        self.lost.lock().expect("unpoisoned").push(lost);
    }

    fn look(&self, caller: &Caller, directory: &Handle) -> Result<Attributes> {
        FileSystem::attributes(&self.inner, caller, directory)
    }

    fn holds(&self, _: &Handle) -> bool {
        true
    }

    fn covers_children(&self, _: &Handle) -> bool {
        true
    }

    fn count(&self) -> usize {
        1
    }

    fn are_certain(&self) -> bool {
        true
    }
}

impl Delegating {
    fn lose(&self, directory: Handle) {
        self.lost.lock().expect("unpoisoned").iter().for_each(|lost| lost(DelegationLoss::Of(directory)));
    }
}

fn name(text: &str) -> Name<'_> {
    Name::parse(text.as_bytes()).expect("a name")
}

#[test]
fn the_kernel_forgets_a_directory_that_another_client_changes() {
    let server = Arc::new(Delegating::default());
    let inner = &server.inner;
    let (root, how) = (inner.root(), Create::Guarded(NewAttributes::with_mode(0o644)));
    inner.create(&ROOT, CreateFile::new(&root, name("old"), &how), &mut Change::default()).expect("made");
    let long = Duration::from_secs(3600);
    let options = MountOptions { names: long, attributes: long, ..MountOptions::default() };
    let Some(mount) = Mount::with(Arc::clone(&server) as _, &options) else { return };
    fs::metadata(mount.at("old")).expect("there");
    // Behind the kernel's back.
    let changes = (&mut Change::default(), &mut Change::default());
    inner.rename(&ROOT, (&root, name("old")), (&root, name("new")), changes).expect("renamed");
    fs::metadata(mount.at("old")).expect("it believes what it was told");
    server.lose(root);
    let gone = fs::metadata(mount.at("old")).map_err(|error| error.kind());
    assert_eq!(gone.map(|_| ()), Err(ErrorKind::NotFound));
    fs::metadata(mount.at("new")).expect("there");
}
