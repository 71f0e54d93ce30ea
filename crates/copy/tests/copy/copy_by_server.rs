//! Copies from file to file of one server, which the server makes by itself if it can.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};

use howdah_copy::{Copier, CopyTarget, Event, Figures, Item, Side};
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    Caller, Change, CommitFile, Committed, CopyRange, FileSystem, FsError, Result, WriteFile, Written,
};

use crate::copying::options;
use crate::copying::random::Random;
use crate::copying::tree::{Files, ROOT};

/// What a server copies at most before it answers.
const SHORT: u64 = 100_000;

/// A server that refuses some calls, and counts.
struct Server {
    inner: MemoryFileSystem,
    refuses: &'static [Call],
    error: FsError,
    reads: AtomicUsize,
    refused: AtomicUsize,
    /// It restarts after the first CLONE, and what that wrote is lost.
    loses: AtomicBool,
    starts: AtomicU8,
}

impl Layer for Server {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        self.reads.fetch_add(usize::from(call == Call::Read), Ordering::SeqCst);
        if self.refuses.contains(&call) {
            self.refused.fetch_add(1, Ordering::SeqCst);
            return Err(self.error);
        }
        run(&self.inner)
    }

    fn copy_range(&self, caller: &Caller, range: CopyRange<'_>, change: &mut Change) -> Result<Written> {
        let range = CopyRange { count: range.count.min(SHORT), ..range };
        let written =
            self.pass(Call::CopyRange, |inner| inner.require_ranges()?.copy_range(caller, range, change))?;
        Ok(Written { verifier: self.verifier(), ..written })
    }

    fn write(&self, caller: &Caller, write: WriteFile<'_>, change: &mut Change) -> Result<Written> {
        let written = self.inner.write(caller, write, change)?;
        Ok(Written { verifier: self.verifier(), ..written })
    }

    fn commit(&self, caller: &Caller, commit: CommitFile<'_>, change: &mut Change) -> Result<Committed> {
        self.inner.commit(caller, commit, change)?;
        Ok(Committed { verifier: self.verifier() })
    }

    fn clone_range(&self, caller: &Caller, range: CopyRange<'_>, change: &mut Change) -> Result<()> {
        if self.loses.swap(false, Ordering::SeqCst) {
            self.starts.fetch_add(1, Ordering::SeqCst);
            return Ok(());
        }
        self.pass(Call::CloneRange, |inner| inner.require_ranges()?.clone_range(caller, range, change))
    }
}

impl Server {
    fn verifier(&self) -> [u8; 8] {
        [self.starts.load(Ordering::SeqCst); 8]
    }
}

fn server(refuses: &'static [Call], error: FsError) -> Arc<Server> {
    let (reads, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let inner = MemoryFileSystem::new();
    Arc::new(Server {
        inner,
        refuses,
        error,
        reads,
        refused,
        loses: AtomicBool::new(false),
        starts: AtomicU8::new(0),
    })
}

/// Copies a tree of three large files and a small one within the server, and compares it.
fn copied(server: &Arc<Server>, names: [&str; 2]) -> Figures {
    let files = Files(Arc::clone(server) as _);
    let from = files.directory(&files.root().handle, "from");
    let mut random = Random::new(7);
    let sizes = [1_000_000, 65_536, 333_333, 1_000];
    let contents = sizes.map(|size| random.bytes(size));
    for (number, bytes) in contents.iter().enumerate() {
        files.file(&from.handle, &number.to_string(), bytes.len() as u64, &[(0, bytes.clone())]);
    }
    let side = |name| Side::new(Arc::clone(&files.0), ROOT.clone()).at_server(name);
    let from = files.at("from");
    server.reads.store(0, Ordering::SeqCst);
    let item = Item {
        source: Arc::new(side(names[0])),
        node: from,
        target: CopyTarget::Entry { directory: files.root().handle, name: b"to".to_vec() },
        path: b"from".to_vec(),
        directory_path: b"/there".to_vec(),
        id: 7,
    };
    let copier = Copier::new(side(names[1]), options(), Arc::new(|_: &Event<'_>| {}));
    let figures = copier.run(vec![item]).figures;
    let reads = server.reads.load(Ordering::SeqCst);
    assert_eq!((figures.errors, figures.files), (0, 4));
    for (number, bytes) in contents.iter().enumerate() {
        assert!(files.content(&files.at(&format!("to/{number}"))) == *bytes, "file {number}");
    }
    server.reads.store(reads, Ordering::SeqCst);
    figures
}

/// What is large enough to be left to the server.
const LARGE: u64 = 1_000_000 + 65_536 + 333_333;

#[test]
fn the_server_clones_or_copies_and_nothing_large_is_read() {
    for refuses in [&[][..], &[Call::CloneRange]] {
        for error in [FsError::NotSupported, FsError::Invalid] {
            let server = server(refuses, error);
            let figures = copied(&server, ["one", "one"]);
            assert_eq!(figures.server_bytes, LARGE, "{refuses:?}");
            assert_eq!(figures.copied_bytes, LARGE + 1_000, "{refuses:?}");
            // The small file, and that it is at its end.
            assert!(server.reads.load(Ordering::SeqCst) <= 2, "{refuses:?}");
        }
    }
}

#[test]
fn a_refusal_is_remembered_and_the_data_is_read_and_written() {
    let server = server(&[Call::CloneRange, Call::CopyRange], FsError::NotSupported);
    let figures = copied(&server, ["one", "one"]);
    assert_eq!((figures.server_bytes, figures.copied_bytes), (0, LARGE + 1_000));
    // Workers that began at the same time may each ask once.
    assert!(server.refused.load(Ordering::SeqCst) <= 2 * 3);
}

#[test]
fn what_two_servers_have_is_read_and_written() {
    let server = server(&[], FsError::NotSupported);
    let figures = copied(&server, ["one", "another"]);
    assert_eq!((figures.server_bytes, figures.copied_bytes), (0, LARGE + 1_000));
}

#[test]
fn what_a_restart_loses_of_a_clone_is_copied_again() {
    let server = server(&[], FsError::NotSupported);
    server.loses.store(true, Ordering::SeqCst);
    assert!(copied(&server, ["one", "one"]).resent_bytes > 0);
}
