//! What programs see of a mounted file system.

mod support;

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::sync::Arc;

use howdah_mount::MountOptions;
use howdah_store::local::{LocalFileSystem, Options};
use howdah_vfs::memory::{MemoryFileSystem, MemoryOptions};
use nix::unistd::{setfsgid, setfsuid, truncate};
use support::Mount;

#[test]
fn files_are_made_read_written_and_removed() {
    let Some(mount) = Mount::of_memory() else { return };
    fs::write(mount.at("file"), "hello").expect("written");
    assert_eq!(fs::read(mount.at("file")).expect("read"), b"hello");
    fs::create_dir(mount.at("directory")).expect("made");
    fs::rename(mount.at("file"), mount.at("directory/other")).expect("renamed");
    assert_eq!(mount.names(""), ["directory"]);
    assert_eq!(mount.names("directory"), ["other"]);
    assert_eq!(
        fs::remove_dir(mount.at("directory")).expect_err("not empty").kind(),
        ErrorKind::DirectoryNotEmpty
    );
    fs::remove_file(mount.at("directory/other")).expect("removed");
    fs::remove_dir(mount.at("directory")).expect("removed");
    assert_eq!(fs::read(mount.at("file")).expect_err("gone").kind(), ErrorKind::NotFound);
    let traffic = mount.mounted().traffic()();
    assert_eq!((traffic.read, traffic.written), (5, 5));
    mount.unmount();
}

#[test]
fn files_are_appended_to_and_cut() {
    let Some(mount) = Mount::of_memory() else { return };
    fs::write(mount.at("log"), "one\n").expect("written");
    for line in ["two\n", "three\n"] {
        let mut log = OpenOptions::new().append(true).open(mount.at("log")).expect("opened");
        log.write_all(line.as_bytes()).expect("written");
    }
    assert_eq!(fs::read(mount.at("log")).expect("read"), b"one\ntwo\nthree\n");
    let log = OpenOptions::new().write(true).open(mount.at("log")).expect("opened");
    // Who has it open may cut it, whatever its mode says by now.
    log.set_permissions(fs::Permissions::from_mode(0o000)).expect("set");
    log.set_len(5).expect("cut");
    log.set_len(7).expect("extended");
    assert_eq!(fs::read(mount.at("log")).expect("read"), b"one\nt\0\0");
    fs::write(mount.at("log"), "new").expect("emptied and written");
    assert_eq!(fs::metadata(mount.at("log")).expect("there").len(), 3);
}

#[test]
fn a_file_is_made_exclusively_once() {
    let Some(mount) = Mount::of_memory() else { return };
    let exclusive = || OpenOptions::new().write(true).create_new(true).mode(0o640).open(mount.at("lock"));
    let file = exclusive().expect("made");
    assert_eq!(file.metadata().expect("there").mode() & 0o7777, 0o640);
    assert_eq!(exclusive().expect_err("it is there").kind(), ErrorKind::AlreadyExists);
}

#[test]
fn links_lead_where_they_should() {
    let Some(mount) = Mount::of_memory() else { return };
    fs::write(mount.at("file"), "x").expect("written");
    symlink("file", mount.at("symbolic")).expect("made");
    fs::hard_link(mount.at("file"), mount.at("hard")).expect("made");
    assert_eq!(fs::read_link(mount.at("symbolic")).expect("read").to_str(), Some("file"));
    assert_eq!(fs::read(mount.at("symbolic")).expect("followed"), b"x");
    let (file, hard) = (fs::metadata(mount.at("file")), fs::metadata(mount.at("hard")));
    let (file, hard) = (file.expect("there"), hard.expect("there"));
    assert_eq!((file.ino(), file.nlink()), (hard.ino(), 2));
}

#[test]
fn a_removed_file_is_there_until_it_is_closed() {
    let Some(mount) = Mount::of_memory() else { return };
    fs::write(mount.at("file"), "still here").expect("written");
    let mut open = File::open(mount.at("file")).expect("opened");
    fs::remove_file(mount.at("file")).expect("removed");
    assert_eq!(fs::metadata(mount.at("file")).expect_err("gone").kind(), ErrorKind::NotFound);
    assert!(mount.names("").iter().all(|name| name.starts_with(".nfs")), "{:?}", mount.names(""));
    let hidden = mount.at(&mount.names("")[0]);
    let busy = fs::remove_file(&hidden).expect_err("it is open");
    assert_eq!(busy.raw_os_error(), Some(rustix::io::Errno::BUSY.raw_os_error()));
    let mut text = String::new();
    open.read_to_string(&mut text).expect("read");
    assert_eq!(text, "still here");
    assert_eq!(open.metadata().expect("there").nlink(), 0);
    drop(open);
    wait_until(|| mount.names("").is_empty());
}

#[test]
fn a_replaced_file_is_there_until_it_is_closed() {
    let Some(mount) = Mount::of_memory() else { return };
    fs::write(mount.at("old"), "old").expect("written");
    fs::write(mount.at("new"), "new").expect("written");
    let mut open = OpenOptions::new().read(true).write(true).open(mount.at("old")).expect("opened");
    fs::rename(mount.at("new"), mount.at("old")).expect("replaced");
    open.write_all(b"OLD and more").expect("written");
    open.seek(SeekFrom::Start(0)).expect("sought");
    let mut text = String::new();
    open.read_to_string(&mut text).expect("read");
    assert_eq!((&text[..], &fs::read(mount.at("old")).expect("read")[..]), ("OLD and more", &b"new"[..]));
    drop(open);
    wait_until(|| mount.names("") == ["old"]);
}

/// The kernel closes in its own time.
fn wait_until(condition: impl Fn() -> bool) {
    while !condition() {
        std::thread::yield_now();
    }
}

#[test]
fn times_are_kept_to_the_nanosecond() {
    let Some(mount) = Mount::of_memory() else { return };
    let file = File::create(mount.at("file")).expect("made");
    let last = (i64::from(u32::MAX), 999_999_999);
    // Those that NFSv3 cannot express become the nearest.
    for (set, kept) in [
        ((1_234_567_890, 123_456_789), (1_234_567_890, 123_456_789)),
        ((0, 1), (0, 1)),
        ((-2, 800_000_000), (0, 0)),
        (last, last),
        ((1 << 33, 1), last),
    ] {
        let time = rustix::fs::Timespec { tv_sec: set.0, tv_nsec: set.1 };
        let times = rustix::fs::Timestamps { last_access: time, last_modification: time };
        rustix::fs::futimens(&file, &times).expect("set");
        let found = fs::metadata(mount.at("file")).expect("there");
        assert_eq!((found.mtime(), found.mtime_nsec()), kept);
        assert_eq!((found.atime(), found.atime_nsec()), kept);
    }
}

#[test]
fn a_long_directory_is_listed_whole_while_it_changes() {
    const STAY: usize = 5_000;
    let Some(mount) = Mount::of_memory() else { return };
    for number in 0..STAY {
        File::create(mount.at(&format!("stays-{number:04}"))).expect("made");
    }
    let mut found = Vec::new();
    for (count, entry) in fs::read_dir(mount.path()).expect("opened").enumerate() {
        let name = entry.expect("an entry").file_name().into_string().expect("text");
        if name.starts_with("stays") {
            found.push(name);
        }
        if count % 100 == 0 {
            let comes = mount.at(&format!("comes-{count}"));
            File::create(&comes).expect("made");
            if count % 200 == 0 {
                fs::remove_file(&comes).expect("removed");
            }
        }
    }
    let whole: Vec<String> = (0..STAY).map(|number| format!("stays-{number:04}")).collect();
    found.sort();
    assert_eq!(found, whole);
}

#[test]
fn space_is_told() {
    let options = MemoryOptions { budget: Some(1 << 20), ..MemoryOptions::default() };
    let Some(mount) = Mount::of(Arc::new(MemoryFileSystem::with_options(options))) else { return };
    let full = rustix::fs::statvfs(mount.path()).expect("an answer");
    assert!(full.f_blocks * full.f_frsize <= 1 << 20 && full.f_blocks > 0);
    let error = fs::write(mount.at("file"), vec![1; 2 << 20]).expect_err("too much");
    assert_eq!(error.kind(), ErrorKind::StorageFull);
}

#[test]
fn a_large_file_comes_back_as_it_went() {
    let home = tempfile::tempdir().expect("a directory");
    let local = LocalFileSystem::open(home.path(), Options::default()).expect("opened");
    let Some(mount) = Mount::of(Arc::new(local)) else { return };
    let mut content = vec![0; (32 << 20) + 4711];
    let mut random = howdah_random::Random::new(7);
    content.chunks_mut(8).for_each(|part| part.copy_from_slice(&random.number().to_le_bytes()[..part.len()]));
    fs::write(mount.at("large"), &content).expect("written");
    assert!(fs::read(home.path().join("large")).expect("read") == content, "written as it was");
    let file =
        OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(mount.at("large")).expect("opened");
    let mut last = vec![0; 4711];
    file.read_exact_at(&mut last, 32 << 20).expect("read past the cache");
    assert!(last == content[32 << 20..]);
    // A change by another client is seen at the next open.
    content[5] ^= 1;
    fs::write(home.path().join("large"), &content).expect("written");
    assert!(fs::read(mount.at("large")).expect("read") == content, "read as it is");
}

#[test]
fn what_another_client_appended_is_read_and_not_written_over() {
    let home = tempfile::tempdir().expect("a directory");
    let local = LocalFileSystem::open(home.path(), Options::default()).expect("opened");
    let Some(mount) = Mount::of(Arc::new(local)) else { return };
    fs::write(mount.at("log"), "ours\n").expect("written");
    let append = |path: &Path, text: &str| {
        let mut file = OpenOptions::new().append(true).open(path).expect("opened");
        file.write_all(text.as_bytes()).expect("appended");
    };
    append(&home.path().join("log"), "theirs\n");
    append(&mount.at("log"), "ours again\n");
    assert_eq!(fs::read_to_string(home.path().join("log")).expect("read"), "ours\ntheirs\nours again\n");
    append(&home.path().join("log"), "and theirs\n");
    let content = fs::read_to_string(mount.at("log")).expect("read");
    assert_eq!(content, "ours\ntheirs\nours again\nand theirs\n");
}

#[test]
fn a_mode_that_forbids_to_write_forbids_to_cut() {
    let home = tempfile::tempdir().expect("a directory");
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).expect("set");
    let local = LocalFileSystem::open(home.path(), Options::default()).expect("opened");
    let options = MountOptions { allow_other: true, caller: None, ..MountOptions::default() };
    let Some(mount) = Mount::with(Arc::new(local), &options) else { return };
    fs::write(mount.at("file"), "content").expect("written");
    chown(mount.at("file"), Some(1000), Some(1000)).expect("given away");
    fs::set_permissions(mount.at("file"), fs::Permissions::from_mode(0o444)).expect("set");
    let path = mount.at("file");
    // Only this thread acts as the owner. It names the file and does not open it.
    let cut = std::thread::spawn(move || {
        setfsgid(1000.into());
        setfsuid(1000.into());
        truncate(&path, 0)
    });
    assert_eq!(cut.join().expect("no panic"), Err(nix::errno::Errno::EACCES));
    assert_eq!(fs::read_to_string(mount.at("file")).expect("read"), "content");
}
