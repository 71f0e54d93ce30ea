//! What programs see that bypass caches, reserve space, or ask about a file that they are writing.

mod sets_late;
mod support;

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::sync::Arc;

use howdah_mount::MountOptions;
use howdah_vfs::layer::{Call, Metered};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    Caller, Change, Content, Data, FileSystem, Handle, Name, ReadFile, Stability, Timestamp, WriteFile,
};
use nix::fcntl::{FallocateFlags, fallocate};
use sets_late::SetsLate;
use support::{Bare, Mount};

const ROOT: Caller = Caller::ROOT;

/// A server as of NFSv3 that counts calls, mounted with all caches.
fn cached() -> Option<(Mount, Arc<Metered>)> {
    let start = std::time::Instant::now();
    let clock = Arc::new(move || start.elapsed());
    let server = Arc::new(Metered::around(Arc::new(Bare::default()), clock));
    Some((Mount::of_cached(Arc::clone(&server) as _)?, server))
}

fn file_at(server: &Metered, name: &str) -> Handle {
    let name = Name::parse(name.as_bytes()).expect("a name");
    server.lookup(&ROOT, &server.root(), name).expect("there").node.handle
}

/// What the server has.
fn content(server: &Metered, file: &Handle) -> Vec<u8> {
    let mut buffer = Vec::new();
    let read = server.read(&ROOT, ReadFile::new(file, 0, 1 << 20), &mut buffer).expect("read");
    match read.content {
        Content::Bytes(bytes) => bytes.to_vec(),
        _ => buffer,
    }
}

/// Another host writes.
fn write(server: &Metered, file: &Handle, at: u64, data: &[u8]) {
    let change = &mut Change::default();
    server
        .write(&ROOT, WriteFile::new(file, at, Data::Bytes(data), Stability::FileSync), change)
        .expect("written");
}

fn direct(mount: &Mount, name: &str) -> File {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).custom_flags(libc::O_DIRECT);
    options.open(mount.at(name)).expect("opened")
}

#[test]
fn what_is_written_past_the_caches_is_at_the_server_at_once() {
    let Some((mount, server)) = cached() else { return };
    let file = direct(&mount, "shared");
    let handle = file_at(&server, "shared");
    for (at, byte) in [(0, b'a'), (4096, b'b'), (0, b'c')] {
        file.write_all_at(&[byte; 4096], at).expect("written");
        let there = content(&server, &handle);
        assert_eq!(there.get(at as usize), Some(&byte), "{} bytes", there.len());
    }
}

#[test]
fn what_another_host_wrote_is_read_at_once_past_the_caches() {
    let Some((mount, server)) = cached() else { return };
    fs::write(mount.at("shared"), [b'a'; 4096]).expect("written");
    // The caches and the kernel know it.
    assert_eq!(fs::read(mount.at("shared")).expect("read").len(), 4096);
    let (handle, file) = (file_at(&server, "shared"), direct(&mount, "shared"));
    let mut buffer = [0; 4096];
    for (at, byte) in [(0, b'b'), (0, b'c'), (4096, b'd'), (8192, b'e')] {
        write(&server, &handle, at, &[byte; 4096]);
        let count = file.read_at(&mut buffer, at).expect("read");
        assert_eq!((count, buffer[0], buffer[4095]), (4096, byte, byte), "at {at}");
    }
    assert_eq!(file.read_at(&mut buffer, 12_288).expect("read"), 0, "the end");
}

#[test]
fn space_is_reserved_by_one_call() {
    let Some((mount, server)) = cached() else { return };
    let file = direct_or_not(&mount, "disk");
    fallocate(&file, FallocateFlags::empty(), 0, 64 << 20).expect("longer");
    assert_eq!(file.metadata().expect("there").len(), 64 << 20);
    assert_eq!(server.snapshot().of(Call::Write).count, 0, "no data was sent");
    for (flags, offset) in [
        // Of space within a file nothing can be said, nor of space behind its end without a size.
        (FallocateFlags::empty(), 4096),
        (FallocateFlags::FALLOC_FL_KEEP_SIZE, 64 << 20),
        (FallocateFlags::FALLOC_FL_KEEP_SIZE | FallocateFlags::FALLOC_FL_PUNCH_HOLE, 0),
    ] {
        let refused = fallocate(&file, flags, offset, 4096).expect_err("refused");
        assert_eq!(refused, nix::errno::Errno::EOPNOTSUPP, "{flags:?}");
    }
    file.write_all_at(b"data", 0).expect("written");
    fallocate(&file, FallocateFlags::empty(), 0, (64 << 20) + 1).expect("longer again");
    assert_eq!(&content(&server, &file_at(&server, "disk"))[..4], b"data");
}

fn direct_or_not(mount: &Mount, name: &str) -> File {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(mount.at(name))
        .expect("opened")
}

#[test]
fn reserving_space_cuts_nothing_that_another_host_wrote() {
    let Some((mount, server)) = cached() else { return };
    let file = direct_or_not(&mount, "disk");
    assert_eq!(file.metadata().expect("there").len(), 0, "known here");
    let handle = file_at(&server, "disk");
    write(&server, &handle, 10_000, b"theirs");
    let refused = fallocate(&file, FallocateFlags::empty(), 0, 4096).expect_err("it is longer");
    assert_eq!(refused, nix::errno::Errno::EOPNOTSUPP);
    assert_eq!(content(&server, &handle).len(), 10_006);
}

#[test]
fn attributes_that_the_server_sets_late_change_no_time_after_it_was_shown() {
    let Some(mount) = Mount::of_cached(Arc::new(SetsLate::default())) else { return };
    let file = File::create_new(mount.at("file")).expect("made");
    file.write_all_at(b"data", 0).expect("written");
    let times = |facts: fs::Metadata| (facts.mtime_nsec(), facts.ctime_nsec());
    let shown = times(file.metadata().expect("there"));
    drop(file);
    assert_eq!(times(fs::metadata(mount.at("file")).expect("there")), shown);
}

#[test]
fn a_file_that_is_written_has_the_times_that_it_keeps_when_its_name_is_looked_up() {
    let names = std::time::Duration::ZERO;
    let options = MountOptions { names, ..MountOptions::default() };
    let Some(mount) = Mount::cached_with(Arc::new(MemoryFileSystem::new()), &options) else { return };
    for lists in [false, true] {
        let path = mount.at(if lists { "listed" } else { "looked up" });
        let file = File::create_new(&path).expect("made");
        file.write_all_at(&[7; 100_000], 0).expect("written");
        if lists {
            assert_eq!(mount.names("").len(), 2);
        }
        let times = |facts: fs::Metadata| (facts.mtime_nsec(), facts.ctime_nsec());
        let shown = times(fs::metadata(&path).expect("there"));
        drop(file);
        assert_eq!(times(fs::metadata(&path).expect("there")), shown, "{lists}");
    }
}

#[test]
fn a_file_that_is_written_has_the_times_and_the_space_that_it_keeps() {
    let Some((mount, server)) = cached() else { return };
    for number in 0..20 {
        let name = format!("file{number}");
        let file = File::create_new(mount.at(&name)).expect("made");
        file.write_all_at(&[7; 100_000], 0).expect("written");
        let facts = |facts: fs::Metadata| {
            (
                facts.len(),
                facts.blocks(),
                (facts.mtime(), facts.mtime_nsec()),
                (facts.ctime(), facts.ctime_nsec()),
            )
        };
        let (open, by_name) =
            (file.metadata().expect("there"), fs::metadata(mount.at(&name)).expect("there"));
        let open = facts(open);
        assert_eq!(open, facts(by_name));
        assert!(open.1 >= 100_000 / 512, "{} blocks", open.1);
        drop(file);
        assert_eq!(facts(fs::metadata(mount.at(&name)).expect("there")), open, "{name}");
        let handle = file_at(&server, &name);
        let Timestamp { seconds, nanoseconds } = server.attributes(&ROOT, &handle).expect("there").modified;
        assert_eq!((seconds, i64::from(nanoseconds)), open.2, "as the server has it");
    }
    // What was set by a program stays.
    let file = File::create_new(mount.at("set")).expect("made");
    file.write_all_at(b"data", 0).expect("written");
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
    file.set_modified(time).expect("set");
    assert_eq!(file.metadata().expect("there").mtime(), 1_000_000);
    drop(file);
    assert_eq!(fs::metadata(mount.at("set")).expect("there").mtime(), 1_000_000);
    assert_eq!(fs::metadata(mount.at("none")).expect_err("not there").kind(), ErrorKind::NotFound);
}
