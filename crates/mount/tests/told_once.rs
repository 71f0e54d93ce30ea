//! Each program gets one error when its data could not be made durable. What it writes afterwards is not affected. No test here
//! starts a program, because a child closes its copies of open files and would take the error.

mod support;

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{Caller, FileSystem, FsError, Name, ReadFile, Result};
use rustix::io::Errno;
use support::Mount;

fn errno(error: &io::Error) -> Option<Errno> {
    error.raw_os_error().map(Errno::from_raw_os_error)
}

/// A file system whose first call of a kind fails.
struct FailsOnce {
    inner: MemoryFileSystem,
    call: Call,
    error: FsError,
    failed: AtomicBool,
}

impl FailsOnce {
    fn new(call: Call, error: FsError) -> Arc<Self> {
        Arc::new(Self { inner: MemoryFileSystem::new(), call, error, failed: AtomicBool::new(false) })
    }
}

impl Layer for FailsOnce {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        if call == self.call && !self.failed.swap(true, Ordering::Relaxed) {
            return Err(self.error);
        }
        run(&self.inner)
    }
}

#[test]
fn a_failure_that_another_program_heard_of_is_told_to_the_writer_too() {
    let Some(mount) = Mount::of(FailsOnce::new(Call::Commit, FsError::Io)) else { return };
    let mut writer = File::create(mount.at("file")).expect("made");
    let other = File::open(mount.at("file")).expect("opened");
    writer.write_all(b"lost").expect("taken");
    assert_eq!(nix::unistd::close(other), Err(nix::errno::Errno::EIO));
    assert_eq!(errno(&writer.sync_all().expect_err("not durable")), Some(Errno::IO));
    // Reported once, and durable by now.
    writer.sync_all().expect("durable");
}

/// What a file of that name holds.
fn content(memory: &MemoryFileSystem, name: &str) -> Vec<u8> {
    let name = Name::parse(name.as_bytes()).expect("a name");
    let node = memory.lookup(&Caller::ROOT, &memory.root(), name).expect("there").node.handle;
    let mut data = Vec::new();
    memory.read(&Caller::ROOT, ReadFile::new(&node, 0, 100), &mut data).expect("read");
    data
}

#[test]
fn data_that_was_refused_behind_is_told_once_and_can_be_written_again() {
    let server = FailsOnce::new(Call::Write, FsError::NoSpace);
    let Some(mount) = Mount::of_cached(Arc::clone(&server) as _) else { return };
    let mut file = File::create(mount.at("file")).expect("made");
    file.write_all(b"first").expect("taken");
    assert_eq!(file.sync_all().expect_err("refused").kind(), ErrorKind::StorageFull);
    file.sync_all().expect("the error was reported before");
    file.write_all_at(b"again", 0).expect("taken");
    file.sync_all().expect("durable");
    server.inner.restart();
    assert_eq!(content(&server.inner, "file"), b"again");
    assert_eq!(nix::unistd::close(file), Ok(()));
}

#[test]
fn what_is_written_after_a_refusal_is_taken_without_an_error() {
    let server = FailsOnce::new(Call::Write, FsError::NoSpace);
    let Some(mount) = Mount::of_cached(Arc::clone(&server) as _) else { return };
    let mut file = File::create(mount.at("file")).expect("made");
    file.write_all(b"first").expect("taken");
    assert_eq!(file.sync_all().expect_err("refused").kind(), ErrorKind::StorageFull);
    file.write_all_at(b"again", 0).expect("taken");
    file.sync_all().expect("durable");
    server.inner.restart();
    assert_eq!(content(&server.inner, "file"), b"again");
}

#[test]
fn what_was_written_after_a_server_lost_data_is_durable_when_a_flush_says_so() {
    let memory = Arc::new(MemoryFileSystem::new());
    let Some(mount) = Mount::of(Arc::clone(&memory) as _) else { return };
    let file = File::create(mount.at("file")).expect("made");
    file.write_all_at(b"lost", 0).expect("taken");
    memory.restart();
    file.write_all_at(b"kept", 4).expect("taken");
    assert_eq!(errno(&file.sync_all().expect_err("lost")), Some(Errno::IO));
    file.sync_all().expect("what is left is durable");
    memory.restart();
    assert_eq!(content(&memory, "file"), b"\0\0\0\0kept");
}
