//! A tree that nobody else changes: programs ask the server nothing again, and see when another client does change it.

mod support;

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use howdah_mount::MountOptions;
use howdah_vfs::layer::{Call, Metered};
use howdah_vfs::{
    Caller, Change, Create, CreateFile, FileSystem, Handle, MakeDirectory, Name, NewAttributes,
};
use support::{Bare, Mount};

const ROOT: Caller = Caller::ROOT;
const DIRECTORIES: usize = 4;
const FILES: usize = 50;

/// A server whose calls are counted.
fn server() -> Arc<Metered> {
    Arc::new(Metered::around(Arc::new(Bare::default()), Arc::new(|| Duration::ZERO)))
}

fn calls(server: &Metered) -> u64 {
    let snapshot = server.snapshot();
    Call::ALL.iter().map(|call| snapshot.of(*call).count).sum()
}

fn name(text: &str) -> Name<'_> {
    Name::parse(text.as_bytes()).expect("a name")
}

fn make_directory(server: &dyn FileSystem, text: &str) -> Handle {
    let (new, root) = (NewAttributes::with_mode(0o755), server.root());
    let make = MakeDirectory::new(&root, name(text), &new);
    server.make_directory(&ROOT, make, &mut Change::default()).expect("made").handle
}

fn create(server: &dyn FileSystem, directory: &Handle, text: &str) {
    let how = Create::Guarded(NewAttributes::with_mode(0o644));
    server.create(&ROOT, CreateFile::new(directory, name(text), &how), &mut Change::default()).expect("made");
}

/// A tree of directories with files, made by another client before the mount.
fn tree(server: &dyn FileSystem) -> Vec<Handle> {
    (0..DIRECTORIES)
        .map(|number| {
            let directory = make_directory(server, &format!("directory{number}"));
            (0..FILES).for_each(|number| create(server, &directory, &format!("file{number}")));
            directory
        })
        .collect()
}

/// As `ls -lR` does.
fn walk(directory: &Path) -> usize {
    let entries = fs::read_dir(directory).expect("listed").map(|entry| entry.expect("an entry").path());
    entries
        .map(|path| {
            let found = fs::symlink_metadata(&path).expect("there");
            if found.is_symlink() {
                fs::read_link(&path).expect("read");
            }
            1 + if found.is_dir() { walk(&path) } else { 0 }
        })
        .sum()
}

/// As `git status` looks at what it knows, and for what is not there.
fn look_at_all(mount: &Mount) {
    for directory in 0..DIRECTORIES {
        for file in 0..FILES {
            let found = fs::symlink_metadata(mount.at(&format!("directory{directory}/file{file}")));
            assert!(found.expect("there").is_file());
        }
        let absent = fs::symlink_metadata(mount.at(&format!("directory{directory}/.gitignore")));
        assert_eq!(absent.expect_err("absent").kind(), ErrorKind::NotFound);
    }
}

#[test]
fn a_second_walk_asks_the_server_nothing() {
    let server = server();
    tree(&*server);
    let Some((mount, cached)) = Mount::alone(Arc::clone(&server) as _, &MountOptions::default()) else {
        return;
    };
    symlink("file0", mount.at("directory0/link")).expect("made");
    let read_all = || {
        let file = mount.at("directory1/file1");
        File::open(file).expect("opened")
    };
    assert_eq!(walk(mount.path()), DIRECTORIES * (FILES + 1) + 1);
    look_at_all(&mount);
    drop(read_all());
    walk(mount.path());
    let before = calls(&server);
    assert_eq!(walk(mount.path()), DIRECTORIES * (FILES + 1) + 1);
    look_at_all(&mount);
    drop(read_all());
    assert_eq!(calls(&server), before, "nothing is asked again");
    let requests = || mount.mounted().traffic()().requests;
    let before = requests();
    look_at_all(&mount);
    // The kernel may report files that were closed before.
    assert!(requests() - before < FILES as u64, "nor is the process");
    assert_eq!(cached.alone().expect("believed").broken(), None);
}

#[test]
fn what_programs_change_is_seen_by_programs() {
    let server = server();
    let Some((mount, cached)) = Mount::alone(Arc::clone(&server) as _, &MountOptions::default()) else {
        return;
    };
    let path = mount.at("file");
    let absent = || fs::symlink_metadata(&path).expect_err("absent").kind();
    assert_eq!((absent(), absent()), (ErrorKind::NotFound, ErrorKind::NotFound));
    let mut file = OpenOptions::new().write(true).create_new(true).open(&path).expect("made");
    for length in [5, 10, 15] {
        file.write_all(b"howdy").expect("written");
        assert_eq!(fs::metadata(&path).expect("there").len(), length);
    }
    let time = rustix::fs::Timespec { tv_sec: 1_000_000, tv_nsec: 5 };
    let times = rustix::fs::Timestamps { last_access: time, last_modification: time };
    rustix::fs::futimens(&file, &times).expect("set");
    assert_eq!(fs::metadata(&path).expect("there").mtime(), 1_000_000);
    drop(file);
    let seen = fs::metadata(&path).expect("there");
    assert_eq!((seen.len(), seen.mtime(), seen.mtime_nsec()), (15, 1_000_000, 5));
    let node = server.lookup(&ROOT, &server.root(), name("file")).expect("there").node;
    assert_eq!((seen.ctime(), seen.len()), (node.attributes.changed.seconds, node.attributes.size));
    fs::hard_link(&path, mount.at("link")).expect("linked");
    assert_eq!(fs::metadata(&path).expect("there").nlink(), 2);
    fs::rename(&path, mount.at("moved")).expect("renamed");
    assert_eq!(absent(), ErrorKind::NotFound);
    fs::remove_file(mount.at("link")).expect("removed");
    assert_eq!(fs::metadata(mount.at("moved")).expect("there").nlink(), 1);
    let root = || fs::metadata(mount.path()).expect("there");
    let open = File::open(mount.at("moved")).expect("opened");
    fs::remove_file(mount.at("moved")).expect("removed");
    let before = root();
    drop(open);
    while !mount.names("").is_empty() {
        thread::yield_now();
    }
    assert!(before.ctime_nsec() <= root().ctime_nsec() || before.ctime() < root().ctime());
    assert_eq!(cached.alone().expect("believed").broken(), None);
}

#[test]
fn what_another_client_changed_is_seen_once_a_change_of_ours_shows_it() {
    for allow_other in [false, true] {
        let server = server();
        let directories = tree(&*server);
        let options = MountOptions { allow_other, ..MountOptions::default() };
        let Some((mount, cached)) = Mount::alone(Arc::clone(&server) as _, &options) else { return };
        walk(mount.path());
        look_at_all(&mount);
        let theirs = mount.at("directory2/.gitignore");
        create(&*server, &directories[2], ".gitignore");
        server
            .remove(&ROOT, &directories[2], name("file7"), &mut Change::default())
            .expect("removed by another");
        assert!(fs::symlink_metadata(&theirs).is_err(), "it is believed");
        let (watch, distrust) = (Arc::clone(cached.alone().expect("believed")), mount.mounted().distrust());
        let waits = thread::spawn(move || {
            let directory = watch.wait();
            distrust();
            directory
        });
        File::create(mount.at("directory2/ours")).expect("made");
        assert_eq!(waits.join().expect("no panic").as_deref(), Some("directory2"));
        assert!(fs::symlink_metadata(&theirs).expect("made by another").is_file());
        let gone = fs::symlink_metadata(mount.at("directory2/file7"));
        assert_eq!(gone.expect_err("removed by another").kind(), ErrorKind::NotFound);
        create(&*server, &directories[3], "later");
        assert!(fs::read_dir(mount.at("directory3")).expect("listed").count() >= FILES);
    }
}
