//! All caches together: which calls reach the server, and what callers see.

use std::ops::ControlFlow;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use howdah_layers::{AttributeCacheOptions, Cached, CachingOptions};
use howdah_vfs::layer::{Call, Metered};
use howdah_vfs::memory::{MemoryFileSystem, MemoryOptions};
use howdah_vfs::{
    Access, Caller, Change, CommitFile, Consistency, Content, Create, CreateFile, Data, Detail, Entry,
    FileSystem, FsError, Handle, ListDirectory, Name, NewAttributes, Node, ReadFile, SetAttributes,
    Stability, WriteFile,
};

const ME: Caller = Caller::ROOT;
const BLOCK: usize = 4096;

fn server() -> Arc<Metered> {
    Arc::new(Metered::around(Arc::new(MemoryFileSystem::new()), Arc::new(|| Duration::ZERO)))
}

fn cached(server: &Arc<Metered>, memory_budget: usize) -> Cached {
    let options =
        CachingOptions { read_size: BLOCK, write_size: BLOCK, memory_budget, ..CachingOptions::default() };
    Cached::around(Arc::clone(server) as _, options)
}

fn create(fs: &dyn FileSystem, text: &str) -> Node {
    let how = Create::Guarded(NewAttributes::default());
    let name = Name::parse(text.as_bytes()).expect("a name");
    fs.create(&ME, CreateFile::new(&fs.root(), name, &how), &mut Change::default()).expect("made")
}

fn write(fs: &dyn FileSystem, node: &Handle, offset: usize, data: &[u8]) -> Change {
    let (mut change, data) = (Change::default(), Data::Bytes(data));
    fs.write(&ME, WriteFile::new(node, offset as u64, data, Stability::Unstable), &mut change)
        .expect("taken");
    change
}

fn read(fs: &dyn FileSystem, node: &Handle, offset: usize, count: usize) -> Vec<u8> {
    let mut buffer = Vec::new();
    let read = fs.read(&ME, ReadFile::new(node, offset as u64, count), &mut buffer).expect("read");
    match read.content {
        Content::Bytes(bytes) => bytes.to_vec(),
        _ => buffer,
    }
}

fn calls(server: &Metered, call: Call) -> u64 {
    server.snapshot().of(call).count
}

fn attributes(fs: &dyn FileSystem, node: &Handle) -> howdah_vfs::Attributes {
    fs.attributes(&ME, node).expect("attributes")
}

#[test]
fn questions_while_a_file_is_written_are_answered_from_memory() {
    let server = server();
    let fs = cached(&server, 64 << 20);
    let node = create(&fs, "file").handle;
    let (mut before, mut shown) = (attributes(&fs, &node), None);
    for number in 1..=100 {
        let change = write(&fs, &node, (number - 1) * 1000, &[1; 1000]);
        let now = attributes(&fs, &node);
        assert_eq!(now.size, number as u64 * 1000);
        assert!(now.modified > before.modified && now.changed > before.changed, "times grow");
        assert_eq!(change.after, Some(now));
        if shown.is_some() {
            assert_eq!(change.before, shown, "what callers saw last");
        }
        (before, shown) = (now, Some((&now).into()));
    }
    assert_eq!(calls(&server, Call::Attributes), 0);
    fs.flush(&ME, &node).expect("safe");
    let now = fs.revalidate(&ME, &node).expect("attributes");
    assert_eq!(now.size, 100_000);
}

#[test]
fn a_small_new_file_takes_two_calls() {
    let server = server();
    let fs = cached(&server, 64 << 20);
    let node = create(&fs, "file").handle;
    write(&fs, &node, 0, b"howdy");
    fs.flush(&ME, &node).expect("safe");
    let made: u64 = Call::ALL.iter().map(|call| calls(&server, *call)).sum();
    assert_eq!((calls(&server, Call::Write), calls(&server, Call::Commit), made), (1, 0, 2));
    fs.flush(&ME, &node).expect("nothing to do");
    assert_eq!(calls(&server, Call::Commit), 0);
    assert_eq!(read(&*server, &node, 0, 10), b"howdy");
}

#[test]
fn what_is_closed_here_is_seen_by_who_opens_it_elsewhere() {
    let server = server();
    let (one, other) = (cached(&server, 64 << 20), cached(&server, 64 << 20));
    let node = create(&one, "file").handle;
    write(&one, &node, 0, b"first");
    one.flush(&ME, &node).expect("closed");
    other.revalidate(&ME, &node).expect("opened");
    assert_eq!(read(&other, &node, 0, 100), b"first");
    write(&one, &node, 0, b"second");
    one.flush(&ME, &node).expect("closed");
    assert_eq!(other.revalidate(&ME, &node).expect("opened").size, 6);
    assert_eq!(read(&other, &node, 0, 100), b"second");
}

#[test]
fn a_writer_waits_for_memory_and_needs_no_fsync_to_go_on() {
    let server = server();
    let fs = cached(&server, 2 * 16 * BLOCK);
    let node = create(&fs, "file").handle;
    let data: Vec<u8> = (0..500 * BLOCK).map(|at| (at / 100) as u8).collect();
    for (number, part) in data.chunks(BLOCK).enumerate() {
        write(&fs, &node, number * BLOCK, part);
        let held = fs.report().writing.held;
        // Each block takes a little more than its data.
        assert!(held <= 16 * (BLOCK + 256), "{held} bytes held");
    }
    let report = fs.report().writing;
    assert!(report.committed_ahead > 0, "{report:?}");
    fs.flush(&ME, &node).expect("safe");
    assert!(read(&*server, &node, 0, data.len()) == data);
}

#[test]
fn reading_elsewhere_in_a_file_does_not_wait_for_what_is_written() {
    let server = server();
    let fs = cached(&server, 64 << 20);
    let node = create(&fs, "file").handle;
    write(&fs, &node, 0, &[1; 3 * BLOCK]);
    fs.flush(&ME, &node).expect("safe");
    let written = calls(&server, Call::Write);
    write(&fs, &node, 2 * BLOCK, b"held");
    assert_eq!(read(&fs, &node, 0, BLOCK), [1; BLOCK]);
    assert_eq!(calls(&server, Call::Write), written, "it is still held");
    assert_eq!(&read(&fs, &node, 2 * BLOCK, 5), b"held\x01");
    write(&fs, &node, 4 * BLOCK, b"!");
    assert_eq!(read(&fs, &node, 3 * BLOCK, BLOCK), [0; BLOCK], "a hole before what is held");
}

#[test]
fn a_listing_answers_for_its_names_and_one_question_for_all_rights() {
    let server = server();
    let fs: &dyn FileSystem = &cached(&server, 64 << 20);
    for number in 0..50 {
        create(&*server, &format!("file{number}"));
    }
    let root = fs.root();
    let wanted = [Access::LOOKUP, Access::READ, Access::MODIFY | Access::EXTEND];
    for wanted in wanted {
        assert_eq!(fs.access(&ME, &root, wanted).expect("an answer").0, wanted);
    }
    assert_eq!(calls(&server, Call::Access), 1);
    let mut names = Vec::new();
    let mut sink = |entry: Entry<'_>| {
        names.push(entry.name.to_vec());
        ControlFlow::Continue(())
    };
    fs.read_directory(&ME, ListDirectory::new(&root, 0, Detail::Nodes), &mut sink).expect("listed");
    for name in names.iter().filter(|name| name.starts_with(b"file")) {
        let name = Name::parse(name).expect("a name");
        let node = fs.lookup(&ME, &root, name).expect("found").node;
        assert_eq!(fs.attributes(&ME, &node.handle), Ok(node.attributes));
    }
    assert_eq!((calls(&server, Call::Lookup), calls(&server, Call::Attributes)), (0, 0));
    // The right to list does not imply the right to look names up.
    let other = Caller::new(1000, 1000);
    let mode = NewAttributes::with_mode(0o704);
    fs.set_attributes(&ME, SetAttributes::new(&root, &mode, None), &mut Change::default()).expect("set");
    fs.read_directory(
        &other,
        ListDirectory::new(&root, 0, Detail::Nodes),
        &mut |_| ControlFlow::Continue(()),
    )
    .expect("listed");
    let name = Name::parse(b"file1").expect("a name");
    assert_eq!(fs.lookup(&other, &root, name).map(|_| ()), Err(FsError::AccessDenied));
}

#[test]
fn data_that_is_given_up_changes_the_verifier_though_another_caller_got_the_error() {
    let options = MemoryOptions { budget: Some(64 << 10), ..MemoryOptions::default() };
    let fs = Cached::around(
        Arc::new(MemoryFileSystem::with_options(options)),
        CachingOptions { write_size: BLOCK, ..CachingOptions::default() },
    );
    let node = create(&fs, "file").handle;
    let write = || {
        let (data, change) = (vec![7; 256 << 10], &mut Change::default());
        fs.write(&ME, WriteFile::new(&node, 0, Data::Bytes(&data), Stability::Unstable), change)
    };
    let written = write().expect("taken").verifier;
    let stranger = Caller::new(7, 7);
    let commit = |caller: &Caller| fs.commit(caller, CommitFile::new(&node, 0, 0), &mut Change::default());
    assert_eq!(commit(&stranger), Err(FsError::NoSpace));
    // The writer need not get the error: it must see that its data may be lost, and write it again.
    let committed = commit(&ME).expect("nothing is held").verifier;
    assert_ne!(committed, written);
    assert_eq!(write().and_then(|_| commit(&ME).map(drop)), Err(FsError::NoSpace));
}

#[test]
fn data_is_as_new_as_the_attributes_that_were_told() {
    let inner = Arc::new(MemoryFileSystem::new());
    let node = create(&*inner, "file").handle;
    let attributes_options = AttributeCacheOptions::default().with_all(Duration::ZERO);
    let options =
        CachingOptions { read_size: BLOCK, attributes: attributes_options, ..CachingOptions::default() };
    let fs = Cached::around(Arc::clone(&inner) as _, options);
    let length = 3 * BLOCK + 100;
    write(&*inner, &node, 0, &vec![1; length]);
    // Read in sequence, so that the end of the file is among the blocks that were fetched.
    let reads: Vec<_> = (0..length).step_by(BLOCK).map(|at| read(&fs, &node, at, BLOCK)).collect();
    assert_eq!(reads.concat(), vec![1; length]);
    write(&*inner, &node, length, &[2; 50]);
    assert_eq!(attributes(&fs, &node).size, length as u64 + 50);
    assert_eq!(read(&fs, &node, 3 * BLOCK, BLOCK), [vec![1; 100], vec![2; 50]].concat());
}

#[test]
fn a_durable_write_does_not_hide_what_was_taken_before_it() {
    let server = server();
    let fs = cached(&server, 64 << 20);
    let node = create(&fs, "file").handle;
    write(&fs, &node, 100, &[7; 10]);
    let (mut change, data) = (Change::default(), Data::Bytes(&[1; 4]));
    fs.write(&ME, WriteFile::new(&node, 0, data, Stability::FileSync), &mut change).expect("written");
    assert_eq!(change.after.map(|after| after.size), Some(110));
    assert_eq!(attributes(&fs, &node).size, 110);
}

#[test]
fn set_id_bits_are_gone_as_soon_as_somebody_else_writes() {
    let server = server();
    let fs = cached(&server, 64 << 20);
    let node = create(&fs, "file").handle;
    let new = NewAttributes::with_mode(0o4777);
    fs.set_attributes(&ME, SetAttributes::new(&node, &new, None), &mut Change::default()).expect("set");
    let other = Caller::new(7, 7);
    fs.access(&other, &node, Access::ALL).expect("an answer");
    fs.write(
        &other,
        WriteFile::new(&node, 0, Data::Bytes(&[1]), Stability::Unstable),
        &mut Change::default(),
    )
    .expect("taken");
    assert_eq!(attributes(&fs, &node).mode, 0o777);
}

#[test]
fn a_file_that_is_taken_for_a_directory_keeps_the_size_of_data_that_is_held() {
    let files = Cached::around(Arc::new(MemoryFileSystem::new()), CachingOptions::default());
    let files: &dyn FileSystem = &files;
    let (root, name) = (files.root(), Name::parse(b"file").expect("a name"));
    let how = Create::Guarded(NewAttributes::with_mode(0o644));
    let create = |directory| {
        files.create(&Caller::ROOT, CreateFile::new(directory, name, &how), &mut Change::default())
    };
    let file = create(&root).expect("made").handle;
    let write = WriteFile::new(&file, 0, Data::Bytes(b"data"), Stability::Unstable);
    files.write(&Caller::ROOT, write, &mut Change::default()).expect("held");
    assert_eq!(create(&file).map(drop), Err(FsError::NotDirectory));
    assert_eq!(files.attributes(&Caller::ROOT, &file).expect("there").size, 4);
}

mod at_once {
    use std::sync::Barrier;

    use howdah_vfs::layer::{Call, Layer};
    use howdah_vfs::memory::MemoryFileSystem;
    use howdah_vfs::{FileSystem, Result};

    /// Answers READ and ACCESS only while both are under way.
    pub struct AtOnce {
        pub inner: MemoryFileSystem,
        pub both: Barrier,
    }

    impl Layer for AtOnce {
        fn inner(&self) -> &dyn FileSystem {
            &self.inner
        }

        fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
            if matches!(call, Call::Read | Call::Access) {
                self.both.wait();
            }
            run(&self.inner)
        }
    }
}

#[test]
fn a_small_file_is_read_while_it_is_opened() {
    let server = at_once::AtOnce { inner: MemoryFileSystem::new(), both: Barrier::new(2) };
    for text in ["first", "second"] {
        let node = create(&server.inner, text).handle;
        write(&server.inner, &node, 0, text.as_bytes());
    }
    let fs = Cached::around(Arc::new(server), CachingOptions::default());
    for text in ["first", "second"] {
        let name = Name::parse(text.as_bytes()).expect("a name");
        let node = fs.lookup(&ME, &fs.root(), name).expect("found").node.handle;
        fs.will_read(&ME, &node);
        fs.opened(&ME, &node).expect("opened");
        // Another READ would wait for ever.
        assert_eq!(read(&fs, &node, 0, 4096), text.as_bytes());
    }
}
