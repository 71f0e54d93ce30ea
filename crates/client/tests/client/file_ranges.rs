//! Writes of ranges of files, which are sent as they lie.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use howdah_store::local::{LocalFileSystem, Options};
use howdah_vfs::layer::Call;
use howdah_vfs::{
    Caller, Change, Create, CreateFile, Data, FileRange, FileSystem, FsError, Handle, Name, NewAttributes,
    ReadFile, Stability, WriteFile,
};

use crate::copying::tree::Files;
use crate::copying::trouble::Meddled;
use crate::copying::{copy, options};
use crate::served::serve_memory;

const ME: Caller = Caller::ROOT;
const LENGTH: usize = 3_000_003;

/// No two words alike.
fn pattern(length: usize) -> Vec<u8> {
    (0..length as u64 / 8 + 1).flat_map(u64::to_be_bytes).take(length).collect()
}

fn range(offset: u64, length: usize) -> FileRange {
    let file = tempfile::tempfile().expect("a file");
    file.write_all_at(&pattern(LENGTH), 0).expect("written");
    FileRange { file: Arc::new(file.into()), offset, length }
}

fn new_file(fs: &dyn FileSystem, name: &str) -> Handle {
    let (name, how) =
        (Name::parse(name.as_bytes()).expect("a name"), Create::Guarded(NewAttributes::default()));
    fs.create(&ME, CreateFile::new(&fs.root(), name, &how), &mut Change::default()).expect("a file").handle
}

fn write(fs: &dyn FileSystem, node: &Handle, data: Data<'_>) -> Result<usize, FsError> {
    fs.write(&ME, WriteFile::new(node, 0, data, Stability::Unstable), &mut Change::default())
        .map(|written| written.count)
}

fn data_of(fs: &dyn FileSystem, node: &Handle, count: usize) -> Vec<u8> {
    let mut data = Vec::new();
    fs.read(&ME, ReadFile::new(node, 0, count), &mut data).expect("read");
    data
}

#[test]
fn a_range_of_any_length_arrives_whole() {
    let served = serve_memory();
    for (query, sizes) in
        [("lanes=1", "wsize=1048576"), ("lanes=1", "wsize=4096"), ("proto=udp", "wsize=32768")]
    {
        let client = served.client(&format!("{query}&{sizes}"));
        for (number, (offset, length)) in
            [(0, LENGTH), (3, 1), (1, 4096), (5, 1 << 20), (7, 0), (9, 1_500_001)].into_iter().enumerate()
        {
            let node = new_file(&*client, &format!("{query} {sizes} {number}"));
            let count = write(&*client, &node, Data::File(range(offset, length))).expect("written");
            let expected = &pattern(LENGTH)[offset as usize..offset as usize + length];
            assert_eq!(count, length, "{query} {sizes} {offset}");
            assert!(data_of(&*client, &node, LENGTH) == expected, "{query} {sizes} {offset} {length}");
        }
        let report = client.channel().report();
        let again: u64 = report.procedures.iter().map(|procedure| procedure.retransmissions).sum();
        assert_eq!(again, 0, "{query} {sizes}");
    }
}

#[test]
fn replies_are_received_while_files_are_sent() {
    let served = serve_memory();
    let client = served.client("lanes=1");
    let nodes: Vec<Handle> = (0..4).map(|number| new_file(&*client, &number.to_string())).collect();
    std::thread::scope(|scope| {
        for node in &nodes {
            let client = &client;
            scope.spawn(move || {
                for _ in 0..20 {
                    assert_eq!(write(&**client, node, Data::File(range(0, LENGTH))), Ok(LENGTH));
                    assert!(data_of(&**client, node, LENGTH) == pattern(LENGTH));
                }
            });
        }
    });
    assert_eq!(client.channel().report().lanes[0].connections, 1);
}

#[test]
fn a_file_that_was_cut_costs_its_own_write_and_no_other() {
    let served = serve_memory();
    let client = served.client("lanes=1");
    let [lost, whole] = ["lost", "whole"].map(|name| new_file(&*client, name));
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let others = scope.spawn(|| {
            let mut writes = 0;
            while !is_over.load(Ordering::Relaxed) || writes < 10 {
                assert_eq!(write(&*client, &whole, Data::File(range(0, LENGTH))), Ok(LENGTH));
                writes += 1;
            }
        });
        for _ in 0..5 {
            // It ends before the range does.
            let cut = range(LENGTH as u64 - 500_000, 900_000);
            assert_eq!(write(&*client, &lost, Data::File(cut)), Err(FsError::Io));
        }
        is_over.store(true, Ordering::Relaxed);
        others.join().expect("the others' data arrives");
    });
    assert!(data_of(&*client, &whole, LENGTH) == pattern(LENGTH));
    assert_eq!(
        client.channel().report().lanes[0].connections,
        6,
        "a connection ends with what was promised on it"
    );
}

#[test]
fn a_file_that_cannot_be_read_is_refused() {
    let served = serve_memory();
    for query in ["lanes=1", "proto=udp"] {
        let client = served.client(query);
        let node = new_file(&*client, query);
        let path = tempfile::NamedTempFile::new().expect("a file");
        let writing = File::options().write(true).open(path.path()).expect("a file");
        let unreadable = FileRange { file: Arc::new(writing.into()), offset: 0, length: 5 };
        assert_eq!(write(&*client, &node, Data::File(unreadable)), Err(FsError::Io), "{query}");
        assert_eq!(write(&*client, &node, Data::Bytes(b"howdy")), Ok(5), "{query}");
    }
}

/// Copies a local file to a server; `meddle` happens right after it was first read.
fn copy_meddled(meddle: fn(&File)) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("file");
    std::fs::write(&path, pattern(LENGTH)).expect("written");
    let local = LocalFileSystem::open(directory.path(), Options::default()).expect("a local directory");
    let name = path.clone();
    let from = Files(Arc::new(Meddled {
        inner: Arc::new(local),
        call: Call::Read,
        before: false,
        meddle: Box::new(move || meddle(&File::options().write(true).open(&name).expect("the file"))),
        is_done: Mutex::new(false),
    }));
    let file = from.0.lookup(&ME, &from.0.root(), Name::parse(b"file").expect("a name")).expect("there").node;
    let served = serve_memory();
    let to = Files(served.client(""));
    let (outcome, heard) = copy(&from, file, &to, "copy", options());
    assert_eq!((outcome.figures.files, outcome.figures.errors), (1, 0), "{:?}", heard.all());
    let copied = to.0.lookup(&ME, &to.0.root(), Name::parse(b"copy").expect("a name")).expect("there").node;
    assert!(to.content(&copied) == std::fs::read(&path).expect("the file"), "{:?}", heard.all());
}

#[test]
fn of_a_source_that_changes_while_it_is_sent_nothing_old_is_left() {
    copy_meddled(|_| {});
    copy_meddled(|file| file.set_len(10).expect("cut"));
    copy_meddled(|file| file.write_all_at(b"other", 100).expect("written"));
}
