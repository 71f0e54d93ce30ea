//! `howdah capture` of a client of NFSv4, and `howdah bench --replay` of the record on another server, on a directory and in memory: all
//! that has a procedure of NFSv3 is played, and ends as it did; sessions, CLOSE and locks are skipped and counted.

use std::fs;
use std::net::TcpStream;

use howdah_wire::nfs4::attributes::{Attributes, SIZE, TYPE, Values};
use howdah_wire::nfs4::open::{self, ACCESS_BOTH, Claim, How};
use howdah_wire::nfs4::{
    Bitmap, ClientId, FileHandle, Name, Opaque, Owner, Stability, StateId, Status, Verifier, close, commit,
    create, getattr, getfh, link, lookup, putfh, putrootfh, read, readdir, remove, rename, restorefh, savefh,
    setattr, write,
};
use howdah_wire::xdr::Decoder;

use crate::bench::open_to_all;
use crate::nfs4::{Client, head, step, take};
use crate::recorded::{Place, howdah, is_as_recorded, play, text};

/// Long enough for its data to leave by `sendfile`, and to arrive past memory.
const LONG: usize = 300_000;

/// Somebody who works in one directory.
struct Worker {
    client: Client,
    directory: Vec<u8>,
}

fn bare(operation: u32) -> Vec<u8> {
    operation.to_be_bytes().to_vec()
}

fn put(node: &[u8]) -> Vec<u8> {
    step(putfh::OPERATION, &putfh::Arguments { node: FileHandle(node) })
}

fn look() -> Vec<u8> {
    step(getattr::OPERATION, &getattr::Arguments { wanted: Bitmap::of(&[TYPE, SIZE]) })
}

fn look_up(name: &'static str) -> Vec<u8> {
    step(lookup::OPERATION, &lookup::Arguments { name: Name(name.as_bytes()) })
}

impl Worker {
    /// In the directory of that name in the root.
    fn start(place: &Place, directory: &'static str) -> Self {
        let stream = TcpStream::connect(place.address()).expect("connected");
        let mut client = Client::new(stream, "worker");
        let mut handle_after = |steps: &[Vec<u8>]| {
            let (status, results) = client.call(&[steps, &[bare(getfh::OPERATION)]].concat());
            assert_eq!(status, Status::OK);
            let mut decoder = Decoder::new(&results);
            steps.iter().for_each(|_| head(&mut decoder));
            take::<getfh::Success<'_>>(&mut decoder).node.0.to_vec()
        };
        let root = handle_after(&[bare(putrootfh::OPERATION)]);
        let directory = handle_after(&[put(&root), look_up(directory)]);
        Self { client, directory }
    }

    fn does(&mut self, node: &[u8], steps: &[Vec<u8>]) {
        let (status, _) = self.client.call(&[&[put(node)], steps].concat());
        assert_eq!(status, Status::OK, "{steps:?}");
    }

    fn open(&mut self, name: &'static str, create: Option<How<'_>>) -> (StateId, Vec<u8>) {
        let arguments = open::Arguments {
            sequence: 0,
            access: ACCESS_BOTH,
            deny: 0,
            owner: Owner { client: ClientId(0), owner: Opaque(b"owner") },
            create,
            claim: Claim::Name(Name(name.as_bytes())),
        };
        let steps = [put(&self.directory), step(open::OPERATION, &arguments), bare(getfh::OPERATION), look()];
        let (status, results) = self.client.call(&steps);
        assert_eq!(status, Status::OK, "{name}");
        let mut decoder = Decoder::new(&results);
        head(&mut decoder);
        let state = take::<open::Success<'_>>(&mut decoder).state;
        (state, take::<getfh::Success<'_>>(&mut decoder).node.0.to_vec())
    }

    /// Reads a file that was there before, and closes it.
    fn read_old(&mut self) {
        let (state, file) = self.open("file", None);
        for offset in [0, LONG as u64 / 2] {
            let arguments = read::Arguments { state, offset, count: LONG as u32 };
            self.does(&file, &[step(read::OPERATION, &arguments), look()]);
        }
        self.does(&file, &[step(close::OPERATION, &close::Arguments { sequence: 0, state })]);
    }

    /// Makes files, writes and cuts one of them, with a lock on it; gives one a second name.
    fn write_new(&mut self) {
        let exclusive = How::ExclusiveWith(Verifier([7; 8]), Values::default());
        for how in [How::Unchecked(Values::default()), exclusive] {
            let name = if matches!(how, How::Unchecked(_)) { "plain" } else { "alone" };
            let opened = self.open(name, Some(how));
            assert_eq!(self.client.lock(&opened, (0, 100)), Status::OK);
            let (state, file) = opened;
            let (data, stability) = (&vec![5; LONG][..], Stability::Unstable);
            for offset in [0, LONG as u64] {
                let arguments = write::Arguments { state, offset, stability, data };
                self.does(&file, &[step(write::OPERATION, &arguments), look()]);
            }
            let all = commit::Arguments { offset: 0, count: 0 };
            self.does(&file, &[step(commit::OPERATION, &all)]);
            let (mut size, buffer) = (Attributes::default(), &mut Vec::new());
            size.content.size = Some(1000);
            let attributes = Values::of(&size, buffer);
            self.does(&file, &[step(setattr::OPERATION, &setattr::Arguments { state, attributes }), look()]);
            let arguments = read::Arguments { state, offset: 0, count: 4096 };
            self.does(&file, &[step(read::OPERATION, &arguments)]);
            if name == "plain" {
                let linked = step(link::OPERATION, &link::Arguments { name: Name(b"second") });
                let steps = [
                    bare(savefh::OPERATION),
                    put(&self.directory),
                    linked,
                    bare(restorefh::OPERATION),
                    look(),
                ];
                self.does(&file, &steps);
            }
        }
    }

    /// Makes, lists, renames and removes names.
    fn change_names(&mut self) {
        let directory = self.directory.clone();
        let name = Name(b"made");
        let new = create::Arguments { node: create::NewNode::Directory, name, attributes: Values::default() };
        self.does(&directory, &[step(create::OPERATION, &new), bare(getfh::OPERATION), look()]);
        let list = readdir::Arguments {
            cookie: 0,
            verifier: Verifier([0; 8]),
            name_count: 4096,
            count: 16_384,
            wanted: Bitmap::default(),
        };
        self.does(&directory, &[step(readdir::OPERATION, &list)]);
        for (from, to) in [("made", "moved"), ("alone", "file")] {
            let names = rename::Arguments { from: Name(from.as_bytes()), to: Name(to.as_bytes()) };
            let steps = [bare(savefh::OPERATION), put(&directory), step(rename::OPERATION, &names)];
            self.does(&directory, &steps);
        }
        for name in ["moved", "plain"] {
            let gone = remove::Arguments { name: Name(name.as_bytes()) };
            self.does(&directory, &[step(remove::OPERATION, &gone), look()]);
        }
        let missing = [put(&directory), look_up("made")];
        assert_eq!(self.client.call(&missing).0, Status::NOENT);
    }
}

#[test]
fn work_of_an_nfsv4_client_is_played_on_a_server_a_directory_and_in_memory() {
    let (first, second) = (Place::start_with_files(), Place::start());
    let (recorded, file) = first.capture(&[], || {
        let mut worker = Worker::start(&first, "old");
        worker.read_old();
        worker.write_new();
        worker.change_names();
    });
    assert_eq!((recorded.read, recorded.written), (LONG as u64 * 3 / 2 + 2000, 4 * LONG as u64));
    assert_eq!((recorded.calls["CREATE"], recorded.calls["CLOSE"], recorded.calls["LOCK"]), (2, 1, 2));
    let other = first.home().join("other");
    open_to_all(&other);
    for there in [&second.url(), &text(&other), "memory:"] {
        let report = play(there, &file, &["--speed", "max"]);
        is_as_recorded(&recorded, &report);
        for one in report["replay"]["procedures"].as_array().expect("procedures") {
            let is_played = matches!(
                one["procedure"].as_str().expect("a name"),
                "READ" | "WRITE" | "CREATE" | "MKDIR" | "RENAME" | "REMOVE" | "SETATTR" | "COMMIT"
            );
            assert!(!is_played || one["skipped"] == 0, "{there}: {one}");
        }
    }
    assert_eq!(fs::read_dir(second.data()).expect("listed").count(), 0, "nothing is left");
}

/// What this command is asked to do, it does.
fn does(arguments: &[&str]) {
    let (code, _, errors) = howdah(arguments);
    assert_eq!(code, Some(0), "{arguments:?}: {errors}");
}

#[test]
fn work_of_our_own_client_over_nfs4_is_recorded_and_played() {
    const SIZES: [usize; 5] = [0, 10, 5_000, 70_000, LONG];
    let (first, second) = (Place::start_with_files(), Place::start());
    let local = first.home().join("local");
    fs::create_dir_all(local.join("tree/below")).expect("made");
    for size in SIZES {
        fs::write(local.join(format!("tree/below/{size}")), vec![3; size]).expect("written");
    }
    let port = first.address().port();
    let there =
        |path: &str, version: &str| format!("nfs://127.0.0.1/{path}?nfsport={port}&version={version}");
    let (recorded, file) = first.capture(&[], || {
        does(&["cp", "-rq", &text(&local.join("tree")), &there("copied", "4.2")]);
        does(&["cp", "-rq", &there("copied", "4.1"), &text(&local.join("back"))]);
        does(&["ls", &there("old", "4.2")]);
        let metadata = ["-w", "metadata", "--files", "20", "--runs", "1", "--warm-up", "0", "--quiet"];
        does(&[&["bench", &there("", "4.2"), "--non-empty"], &metadata[..]].concat());
    });
    let all = SIZES.iter().sum::<usize>() as u64;
    assert_eq!((recorded.read, recorded.written), (all, all), "{recorded:?}");
    let calls = |name: &str| recorded.calls.get(name).copied().unwrap_or_default();
    // cp marks a directory by a file until it is complete.
    assert!(calls("CREATE") >= 20 + SIZES.len() as u64 && calls("REMOVE") >= 20, "{recorded:?}");
    assert_eq!((calls("MKDIR"), calls("RMDIR")), (3, 1), "{recorded:?}");
    assert!(calls("RENAME") >= 20 && calls("READDIRPLUS") >= 4 && calls("SETATTR") > 0, "{recorded:?}");
    for there in [&second.url(), &format!("{}&version=4.2", second.url()), "memory:"] {
        is_as_recorded(&recorded, &play(there, &file, &["--speed", "max"]));
    }
    assert_eq!(fs::read_dir(second.data()).expect("listed").count(), 0, "nothing is left");
}
