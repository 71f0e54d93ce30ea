//! Files that are made whole in one compound, and what a copy of small files takes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;
use howdah_client::Remote;
use howdah_client::connect::{ConnectOptions, connect};
use howdah_copy::{Copier, CopyOptions, CopyTarget, CopyTuning, Item, Side};
use howdah_vfs::{
    Caller, Change, Create, CreateFile, Data, Detail, FileSystem, FsError, Handle, ListDirectory,
    MakeDirectory, Name, NewAttributes, Node, PutFile, ReadFile, Result, SetTime, Stability, Timestamp,
    WriteFile,
};
use howdah_wire::nfs4::compound::{ReplyHead, ResultHead};
use howdah_wire::nfs4::{Status, getfh, open, putfh, savefh, sequence, write};
use howdah_wire::xdr::{Decode, Decoder, Encode, Encoder};

use crate::middleman::{Exchange, Fate, Middleman};
use crate::served::{EXPORT, memory, serve, serve_memory};

const ME: Caller = Caller::ROOT;
const NFS: u32 = 100_003;
const MOMENT: Timestamp = Timestamp { seconds: 1_000_000, nanoseconds: 5 };

fn name(text: &str) -> Name<'_> {
    Name::parse(text.as_bytes()).expect("a name")
}

/// A client, and who counts its calls.
fn counted(fs: Arc<dyn FileSystem>, options: &str) -> (crate::served::Served, Middleman, Arc<dyn Remote>) {
    let served = serve(fs);
    let middleman = Middleman::before(served.address);
    let url = format!("nfs://{}{EXPORT}?lanes=1&{options}", middleman.address).parse().expect("a URL");
    let client = connect(&url, &ConnectOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    (served, middleman, client)
}

/// Counts the calls that do something from here on.
fn calls(middleman: &Middleman) -> Arc<AtomicU32> {
    let counted = Arc::new(AtomicU32::new(0));
    let counts = Arc::clone(&counted);
    middleman.judge(move |exchange| {
        let counts_here = exchange.program == NFS && exchange.procedure != 0;
        counts.fetch_add(u32::from(counts_here), Ordering::SeqCst);
        Fate::Pass
    });
    counted
}

fn new() -> NewAttributes {
    NewAttributes {
        accessed: SetTime::To(MOMENT),
        modified: SetTime::To(MOMENT),
        ..NewAttributes::with_mode(0o444)
    }
}

fn put(client: &dyn Remote, called: &str, data: &[u8]) -> Result<Handle> {
    let (data, new, root) = (Bytes::copy_from_slice(data), new(), client.root());
    let put = PutFile::new(&root, name(".partial"), name(called), &data, &new, Stability::FileSync);
    client.whole_files().ok_or(FsError::NotSupported)?.put_file(&ME, put)
}

fn content(files: &dyn FileSystem, node: &Handle) -> Vec<u8> {
    let mut data = Vec::new();
    let read = files.read(&ME, ReadFile::new(node, 0, 128 << 10), &mut data).expect("read");
    read.copied(&mut data).map(|_| data).expect("copied")
}

/// The names in the root.
fn names(files: &dyn FileSystem) -> Vec<String> {
    let (mut names, root) = (Vec::new(), files.root());
    let list = ListDirectory::new(&root, 0, Detail::Names);
    let sink = &mut |entry: howdah_vfs::Entry<'_>| {
        names.push(String::from_utf8_lossy(entry.name).into_owned());
        std::ops::ControlFlow::Continue(())
    };
    files.read_directory(&ME, list, sink).expect("listed");
    names.retain(|name| !name.starts_with('.') || name.len() > 2);
    names.sort();
    names
}

#[test]
fn one_compound_makes_a_file_and_replaces_another_one() {
    let (_served, middleman, client) = counted(memory(), "version=4");
    let calls = calls(&middleman);
    for (round, data) in [&b"content"[..], b"", &[7; 64 << 10]].into_iter().enumerate() {
        let before = calls.load(Ordering::SeqCst);
        let made = put(&*client, "file", data).expect("made");
        assert_eq!(calls.load(Ordering::SeqCst) - before, 1, "round {round}");
        let found = client.lookup(&ME, &client.root(), name("file")).expect("there").node;
        let attributes = found.attributes;
        assert_eq!((found.handle, attributes.mode, attributes.modified), (made, 0o444, MOMENT));
        assert!(content(&*client, &made) == data, "round {round}");
        assert_eq!(names(&*client), ["file"]);
    }
}

#[test]
fn a_partial_name_that_is_taken_is_not_touched() {
    let served = serve_memory();
    let client = served.client("version=4");
    let how = Create::Guarded(NewAttributes::with_mode(0o600));
    let root = client.root();
    let create = CreateFile::new(&root, name(".partial"), &how);
    client.create(&ME, create, &mut Change::default()).expect("made");
    assert_eq!(put(&*client, "file", b"content"), Err(FsError::Exists));
    assert_eq!(names(&*client), [".partial"]);
    assert!(client.whole_files().is_some(), "that says nothing of the server");
}

mod short {
    use std::sync::Arc;

    use howdah_vfs::layer::{Call, Layer};
    use howdah_vfs::{Caller, Change, Data, FileSystem, Result, WriteFile, Written};

    /// Takes no more than half of what is to be written.
    pub struct Short(pub Arc<dyn FileSystem>);

    impl Layer for Short {
        fn inner(&self) -> &dyn FileSystem {
            &*self.0
        }

        fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
            run(&*self.0)
        }

        fn write(&self, caller: &Caller, mut write: WriteFile<'_>, change: &mut Change) -> Result<Written> {
            let all = write.data.bytes().expect("data").to_vec();
            let half = Data::Bytes(&all[..all.len().div_ceil(2)]);
            self.0.write(caller, WriteFile::new(write.node, write.offset, half, write.stability), change)
        }
    }
}

#[test]
fn a_file_that_was_written_in_part_does_not_get_its_name() {
    let served = serve(Arc::new(short::Short(memory())));
    let client = served.client("version=4");
    put(&*client, "file", b"content").expect_err("it is not whole");
    assert_eq!(names(&*client), [".partial"]);
    // It is closed: nothing that is open stands in the way of a mount that ends.
    client.remove(&ME, &client.root(), name(".partial"), &mut Change::default()).expect("removed");
}

/// The reply of a server that does not know the current stateid.
fn without_current_stateid(exchange: &Exchange<'_>) -> Fate {
    let mut decoder = Decoder::new(exchange.results);
    let _ = ReplyHead::decode(&mut decoder);
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes);
    ReplyHead { status: Status::BAD_STATEID, tag: b"", results: 6 }.encode(&mut encoder);
    let start = decoder.position();
    let mut pass = |operation: u32| {
        let head = ResultHead::decode(&mut decoder).ok()?;
        (head.operation == operation && head.status == Status::OK).then_some(())?;
        match operation {
            sequence::OPERATION => sequence::Success::decode(&mut decoder).map(drop).ok(),
            open::OPERATION => open::Success::decode(&mut decoder).map(drop).ok(),
            getfh::OPERATION => getfh::Success::decode(&mut decoder).map(drop).ok(),
            _ => Some(()),
        }
    };
    let passed =
        [sequence::OPERATION, putfh::OPERATION, savefh::OPERATION, open::OPERATION, getfh::OPERATION]
            .into_iter()
            .try_for_each(&mut pass);
    if passed.is_none() {
        return Fate::Pass;
    }
    encoder.fixed(&exchange.results[start..decoder.position()]);
    ResultHead { operation: write::OPERATION, status: Status::BAD_STATEID }.encode(&mut encoder);
    Fate::Replace(bytes)
}

#[test]
fn a_server_without_the_current_stateid_is_asked_once() {
    let (_served, middleman, client) = counted(memory(), "version=4.1");
    middleman.judge(without_current_stateid);
    put(&*client, "file", b"content").expect_err("refused");
    assert!(client.whole_files().is_none());
}

/// A tree of small files.
fn tree(files: u32) -> (Arc<dyn FileSystem>, Node) {
    let memory = memory();
    let directory = {
        let (root, new) = (memory.root(), NewAttributes::with_mode(0o755));
        let make = MakeDirectory::new(&root, name("tree"), &new);
        memory.make_directory(&ME, make, &mut Change::default()).expect("made")
    };
    for number in 0..files {
        let (text, how) = (format!("file-{number}"), Create::Guarded(NewAttributes::with_mode(0o644)));
        let create = CreateFile::new(&directory.handle, name(&text), &how);
        let file = memory.create(&ME, create, &mut Change::default()).expect("made").handle;
        let data = vec![number as u8 + 1; 4 << 10];
        let write = WriteFile::new(&file, 0, Data::Bytes(&data), Stability::FileSync);
        memory.write(&ME, write, &mut Change::default()).expect("written");
    }
    (memory, directory)
}

/// Copies a tree, and gives the names and contents of its copy.
fn copy((from, node): (Arc<dyn FileSystem>, Node), to: Arc<dyn FileSystem>) -> Vec<(String, Vec<u8>)> {
    let tuning = CopyTuning { most_jobs: 4, most_small_jobs: 4, ..CopyTuning::default() };
    let options = CopyOptions { recursive: true, tuning, ..CopyOptions::default() };
    let destination = Side::new(Arc::clone(&to), ME);
    let item = Item {
        source: Arc::new(Side::new(from, ME)),
        node,
        target: CopyTarget::Entry { directory: to.root(), name: b"copy".to_vec() },
        path: b"copy".to_vec(),
        directory_path: b"/there".to_vec(),
        id: 7,
    };
    let observer = Arc::new(|event: &howdah_copy::Event<'_>| {
        assert!(!matches!(event, howdah_copy::Event::Failed(_)), "{event:?}");
    });
    let outcome = Copier::new(destination, options, observer).run(vec![item]);
    assert_eq!(outcome.figures.errors, 0);
    let copy = to.lookup(&ME, &to.root(), name("copy")).expect("there").node.handle;
    let mut found = Vec::new();
    let sink = &mut |entry: howdah_vfs::Entry<'_>| {
        found.push(entry.name.to_vec());
        std::ops::ControlFlow::Continue(())
    };
    to.read_directory(&ME, ListDirectory::new(&copy, 0, Detail::Names), sink).expect("listed");
    found.retain(|name| !name.starts_with(b"."));
    found.sort();
    let file = |text: Vec<u8>| {
        let node = to.lookup(&ME, &copy, Name::parse(&text).expect("a name")).expect("there").node;
        (String::from_utf8_lossy(&text).into_owned(), content(&*to, &node.handle))
    };
    found.into_iter().map(file).collect()
}

fn expected(files: u32) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<_> =
        (0..files).map(|number| (format!("file-{number}"), vec![number as u8 + 1; 4 << 10])).collect();
    all.sort();
    all
}

const FEW: u32 = 2;
const MANY: u32 = 22;

/// Calls of a copy to a server, or from one, for each file.
fn calls_for_each(version: &str, is_up: bool) -> u32 {
    let of = |files: u32| {
        let (from, node) = tree(files);
        let remote: Arc<dyn FileSystem> = if is_up { memory() } else { Arc::clone(&from) };
        let (_served, middleman, client) = counted(remote, &format!("version={version}"));
        let client: Arc<dyn FileSystem> = client;
        let counted = calls(&middleman);
        let copied = if is_up {
            copy((from, node), Arc::clone(&client))
        } else {
            let node = client.lookup(&ME, &client.root(), name("tree")).expect("there").node;
            copy((Arc::clone(&client), node), memory())
        };
        assert!(copied == expected(files));
        // Of a copy to a server, what looks at it afterwards counts, too: a LOOKUP and a READ for each file.
        counted.load(Ordering::SeqCst) - if is_up { 2 * files } else { 0 }
    };
    let (few, many) = (of(FEW), of(MANY));
    assert_eq!((many - few) % (MANY - FEW), 0, "{version} {few} {many}");
    (many - few) / (MANY - FEW)
}

#[test]
fn a_small_file_takes_one_call_up_and_two_down() {
    for (version, up, down) in [("3", 4, 2), ("4.1", 1, 2), ("4.2", 1, 2)] {
        assert_eq!(calls_for_each(version, true), up, "up, {version}");
        assert_eq!(calls_for_each(version, false), down, "down, {version}");
    }
}
