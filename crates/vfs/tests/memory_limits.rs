//! What the file system in memory does at its limits, and when it "crashes".

use howdah_vfs::memory::{MemoryFileSystem, MemoryOptions};
use howdah_vfs::{
    AddLink, Caller, Change, CommitFile, Create, CreateFile, Data, FileSystem, FsError, Handle, Name,
    NewAttributes, Node, ReadFile, Result, Stability, WriteFile, Written,
};

const ROOT: &Caller = &Caller::ROOT;

fn name(bytes: &[u8]) -> Name<'_> {
    Name::parse(bytes).expect("a name")
}

fn create(fs: &MemoryFileSystem, of: &[u8]) -> Node {
    let how = Create::Guarded(NewAttributes::with_mode(0o644));
    fs.create(ROOT, CreateFile::new(&fs.root(), name(of), &how), &mut Change::default()).expect("a file")
}

fn write(fs: &MemoryFileSystem, node: &Handle, offset: u64, data: &[u8], how: Stability) -> Result<Written> {
    fs.write(ROOT, WriteFile::new(node, offset, Data::Bytes(data), how), &mut Change::default())
}

fn content(fs: &MemoryFileSystem, node: &Handle) -> Vec<u8> {
    let mut data = Vec::new();
    fs.read(ROOT, ReadFile::new(node, 0, 1 << 20), &mut data).expect("read");
    data
}

#[test]
fn a_crash_loses_what_was_not_committed_and_says_so() {
    let fs = MemoryFileSystem::new();
    let file = create(&fs, b"f").handle;
    write(&fs, &file, 0, b"stable", Stability::FileSync).expect("written");
    let before = write(&fs, &file, 3, b"lost, and more", Stability::Unstable).expect("written").verifier;
    fs.restart();
    assert_eq!(content(&fs, &file), b"stable");
    let after = write(&fs, &file, 0, b"S", Stability::Unstable).expect("written").verifier;
    assert_ne!(before, after);
    let committed = fs.commit(ROOT, CommitFile::new(&file, 0, 0), &mut Change::default()).expect("committed");
    assert_eq!(committed.verifier, after);
    fs.restart();
    assert_eq!(content(&fs, &file), b"Stable");
}

#[test]
fn a_full_file_system_writes_what_fits() {
    let options = MemoryOptions { budget: Some(3 * 4096), ..MemoryOptions::default() };
    let fs = MemoryFileSystem::with_options(options);
    let file = create(&fs, b"f").handle;
    let written = write(&fs, &file, 100, &[1; 3 * 4096], Stability::FileSync).expect("written");
    assert_eq!(written.count, 2 * 4096 - 100);
    assert_eq!(write(&fs, &file, 1 << 20, b"x", Stability::FileSync), Err(FsError::NoSpace));
    assert!(fs.statistics(ROOT, &file).expect("statistics").free_bytes < 4096);
    fs.remove(ROOT, &fs.root(), name(b"f"), &mut Change::default()).expect("removed");
    assert_eq!(fs.statistics(ROOT, &fs.root()).expect("statistics").free_bytes, 3 * 4096);
}

#[test]
fn names_and_nodes_without_data_fill_it_too() {
    let options = MemoryOptions { budget: Some(64 << 10), ..MemoryOptions::default() };
    let fs = MemoryFileSystem::with_options(options);
    let root = fs.root();
    let how = Create::Guarded(NewAttributes::default());
    let full = (0..1000).find_map(|number| {
        let of = format!("{number}");
        fs.create(ROOT, CreateFile::new(&root, name(of.as_bytes()), &how), &mut Change::default()).err()
    });
    assert_eq!(full, Some(FsError::NoSpace));
    let free = || fs.statistics(ROOT, &root).expect("statistics").free_bytes;
    fs.remove(ROOT, &root, name(b"0"), &mut Change::default()).expect("removed");
    let (file, mut links) = (fs.lookup(ROOT, &root, name(b"1")).expect("there").node.handle, 0);
    let link =
        |of: &str| fs.link(ROOT, AddLink::new(&file, &root, name(of.as_bytes())), &mut Change::default());
    while link(&format!("link{links}")).is_ok() {
        links += 1;
    }
    assert!((1..10).contains(&links), "{links} links in the room of one file");
    let mut changes = (Change::default(), Change::default());
    let before = free();
    fs.rename(ROOT, (&root, name(b"1")), (&root, name(b"2")), (&mut changes.0, &mut changes.1))
        .expect("renamed");
    assert!(free() > before, "a name and a node less");
}

#[test]
fn a_node_has_so_many_links_and_no_more() {
    let fs = MemoryFileSystem::with_options(MemoryOptions { most_links: 2, ..MemoryOptions::default() });
    let file = create(&fs, b"f").handle;
    let link = |of| {
        fs.link(ROOT, AddLink::new(&file, &fs.root(), name(of)), &mut Change::default())
            .map(|after| after.links)
    };
    assert_eq!(link(b"g"), Ok(2));
    assert_eq!(link(b"h"), Err(FsError::TooManyLinks));
}

#[test]
fn a_handle_of_another_instance_is_stale() {
    let (one, other) = (MemoryFileSystem::new(), MemoryFileSystem::new());
    let file = create(&one, b"f").handle;
    create(&other, b"f");
    assert_eq!(other.attributes(ROOT, &file), Err(FsError::Stale));
}
