//! Locks on files: between clients of one server, over its restart, and when they are lost.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use howdah_client::Remote;
use howdah_client::connect::{ConnectOptions, connect};
use howdah_server::states::{OwnRights, StateOptions};
use howdah_vfs::{
    Caller, Change, CopyRange, Create, CreateFile, Data, FileExtent, FileLock, FileSystem, FsError, Handle,
    Name, NewAttributes, ReadFile, Result, SetAttributes, Stability, WriteFile,
};
use howdah_wire::nfs4::{close, lock, locku};

use crate::injected::behind_put;
use crate::middleman::{Fate, Middleman};
use crate::served::{EXPORT, Served, memory, serve_memory, serve_with};

const ME: Caller = Caller::ROOT;
/// Lock owners.
const ONE: u64 = 1;
const TWO: u64 = 2;
const LEASE: Duration = Duration::from_secs(2);

fn shared(first: u64, last: u64) -> FileLock {
    FileLock { first, last, exclusive: false }
}

fn exclusive(first: u64, last: u64) -> FileLock {
    FileLock { first, last, exclusive: true }
}

fn lock(client: &dyn Remote, file: &Handle, owner: u64, lock: FileLock) -> Result<Option<FileLock>> {
    client.file_locks().expect("locks").lock_range(&ME, file, owner, lock, false)
}

fn test(client: &dyn Remote, file: &Handle, owner: u64, lock: FileLock) -> Result<Option<FileLock>> {
    client.file_locks().expect("locks").test_lock(&ME, file, owner, lock)
}

fn unlock(client: &dyn Remote, file: &Handle, owner: u64, bytes: (u64, u64)) {
    client.file_locks().expect("locks").unlock_range(&ME, file, owner, bytes).expect("unlocked");
}

fn read(client: &dyn Remote, file: &Handle) -> Result<Vec<u8>> {
    let mut data = Vec::new();
    client.read(&ME, ReadFile::new(file, 0, 100), &mut data).map(|_| data)
}

fn write(client: &dyn Remote, file: &Handle, data: &[u8]) -> Result<usize> {
    let write = WriteFile::new(file, 0, Data::Bytes(data), Stability::FileSync);
    client.write(&ME, write, &mut Change::default()).map(|written| written.count)
}

fn made(client: &dyn Remote) -> Handle {
    let (name, root) = (Name::parse(b"file").expect("a name"), client.root());
    let how = Create::Guarded(NewAttributes::with_mode(0o600));
    let create = CreateFile::new(&root, name, &how);
    client.create(&ME, create, &mut Change::default()).expect("made").handle
}

/// A server that keeps the names of its clients, with a short lease.
fn with_records(address: SocketAddr, files: &Arc<dyn FileSystem>, records: &Path) -> Served {
    let states = StateOptions::in_directory(records, OwnRights::always()).expect("records");
    serve_with(address, Arc::clone(files), states.with_lease(LEASE), Default::default())
}

/// Locks as soon as nobody has it. Waits for the end of grace, too.
fn lock_at_last(client: &dyn Remote, file: &Handle, owner: u64, wanted: FileLock) {
    while lock(client, file, owner, wanted).expect("an answer").is_some() {
        thread::yield_now();
    }
}

#[test]
fn what_one_client_has_locked_no_other_gets() {
    let served = serve_memory();
    for version in ["4.1", "4.2"] {
        let clients = [0, 1].map(|_| served.client(&format!("version={version}")));
        let [a, b] = [&*clients[0], &*clients[1]];
        let file = made(a);
        assert_eq!(lock(a, &file, ONE, exclusive(10, 19)), Ok(None));
        assert_eq!(lock(b, &file, ONE, shared(15, 30)), Ok(Some(exclusive(10, 19))));
        assert_eq!(test(b, &file, ONE, shared(0, u64::MAX)), Ok(Some(exclusive(10, 19))));
        assert_eq!(lock(a, &file, TWO, exclusive(19, 19)), Ok(Some(exclusive(10, 19))), "another owner");
        assert_eq!(test(a, &file, ONE, exclusive(0, u64::MAX)), Ok(None), "its own");
        assert_eq!(lock(b, &file, ONE, exclusive(20, u64::MAX)), Ok(None));
        // Both read and write by their opens, and a program of another user without.
        assert_eq!((write(a, &file, b"by a"), read(b, &file)), (Ok(4), Ok(b"by a".to_vec())));
        let new = NewAttributes::with_size(2);
        a.set_attributes(&ME, SetAttributes::new(&file, &new, None), &mut Change::default()).expect("cut");
        // A part is unlocked, and what is left is locked still.
        unlock(a, &file, ONE, (12, 15));
        assert_eq!(lock(b, &file, TWO, exclusive(12, 15)), Ok(None));
        assert_eq!(lock(b, &file, TWO, exclusive(10, 11)), Ok(Some(exclusive(10, 11))));
        assert_eq!(lock(a, &file, ONE, shared(16, 19)), Ok(None), "it becomes a weaker one");
        assert_eq!(lock(b, &file, TWO, shared(18, 19)), Ok(None));
        unlock(a, &file, ONE, FileLock::ALL);
        unlock(b, &file, TWO, FileLock::ALL);
        assert_eq!(lock(b, &file, TWO, exclusive(0, 19)), Ok(None));
        unlock(b, &file, ONE, FileLock::ALL);
        unlock(b, &file, TWO, FileLock::ALL);
        // Nothing is left of either.
        assert_eq!(lock(a, &file, TWO, exclusive(0, u64::MAX)), Ok(None));
        unlock(a, &file, TWO, FileLock::ALL);
        let name = Name::parse(b"file").expect("a name");
        a.remove(&ME, &a.root(), name, &mut Change::default()).expect("removed");
    }
}

#[test]
fn a_lock_needs_the_right_that_it_is_for() {
    let served = serve_memory();
    let client = served.client("version=4");
    let (file, reader) = (made(&*client), Caller::new(5, 5));
    let new = NewAttributes::with_mode(0o644);
    let change = &mut Change::default();
    client.set_attributes(&ME, SetAttributes::new(&file, &new, None), change).expect("set");
    let locks = client.file_locks().expect("locks");
    assert_eq!(locks.lock_range(&reader, &file, ONE, exclusive(0, 9), false), Err(FsError::AccessDenied));
    assert_eq!(locks.lock_range(&reader, &file, ONE, shared(0, 9), false), Ok(None));
    assert_eq!(locks.lock_range(&ME, &file, TWO, exclusive(5, 9), false), Ok(Some(shared(0, 9))));
    // Another caller unlocks: only the lock owner counts.
    locks.unlock_range(&ME, &file, ONE, FileLock::ALL).expect("unlocked");
    assert_eq!(locks.lock_range(&ME, &file, TWO, exclusive(5, 9), false), Ok(None));
}

#[test]
fn threads_of_one_client_lock_and_unlock_at_once_and_nothing_is_left() {
    let served = serve_memory();
    let clients = [0, 1].map(|_| served.client("version=4&lanes=2"));
    let file = made(&*clients[0]);
    let held = AtomicBool::new(false);
    thread::scope(|scope| {
        for thread in 0..6_u64 {
            let (clients, file, held) = (&clients, &file, &held);
            scope.spawn(move || {
                let client = &*clients[thread as usize % 2];
                // Two threads of each client are one lock owner, whose locks are on bytes of their own.
                let (owner, own) = (thread / 4, exclusive(100 + thread, 100 + thread));
                for _ in 0..30 {
                    assert_eq!(lock(client, file, owner, own), Ok(None));
                    lock_at_last(client, file, 10 + thread, exclusive(0, 9));
                    assert!(!held.swap(true, Ordering::SeqCst), "two have it");
                    read(client, file).expect("read");
                    held.store(false, Ordering::SeqCst);
                    unlock(client, file, 10 + thread, FileLock::ALL);
                    unlock(client, file, owner, (own.first, own.last));
                }
            });
        }
    });
    let other = served.client("version=4");
    assert_eq!(lock(&*other, &file, ONE, exclusive(0, u64::MAX)), Ok(None));
}

/// Locks when what had no answer is set right.
fn lock_when_settled(client: &dyn Remote, file: &Handle, owner: u64, wanted: FileLock) {
    while lock(client, file, owner, wanted) != Ok(None) {
        thread::yield_now();
    }
}

#[test]
fn a_lock_call_without_an_answer_leaves_what_its_program_knows() {
    let served = serve_memory();
    let middleman = Middleman::before(served.address);
    let url = format!("nfs://{}{EXPORT}?version=4&lanes=1&soft=1", middleman.address);
    let a = connect(&url.parse().expect("a URL"), &ConnectOptions::default());
    let (a, b) = (a.unwrap_or_else(|error| panic!("{error}")), served.client("version=4"));
    let (a, b) = (&*a, &*b);
    let file = made(a);
    let lose = |lost: u32| {
        middleman.judge(move |exchange| match behind_put(exchange) == Some(lost) {
            true => Fate::Drop,
            false => Fate::Pass,
        });
    };
    // A first lock, which the server has granted.
    lose(lock::OPERATION);
    lock(a, &file, ONE, exclusive(0, 9)).expect_err("no answer");
    assert!(lock(b, &file, ONE, exclusive(0, 9)).expect("an answer").is_some());
    middleman.judge(|_| Fate::Pass);
    lock_at_last(b, &file, ONE, exclusive(0, 9));
    unlock(b, &file, ONE, FileLock::ALL);
    // An upgrade: its owner has what it had.
    lock_when_settled(a, &file, ONE, shared(0, 9));
    lose(lock::OPERATION);
    lock(a, &file, ONE, exclusive(5, 14)).expect_err("no answer");
    assert!(lock(b, &file, ONE, shared(0, 19)).expect("an answer").is_some());
    middleman.judge(|_| Fate::Pass);
    lock_at_last(b, &file, ONE, shared(0, 19));
    assert_eq!(lock(b, &file, ONE, exclusive(0, 19)), Ok(Some(shared(0, 9))));
    unlock(b, &file, ONE, FileLock::ALL);
    // The last unlock, and so the CLOSE behind it.
    for lost in [locku::OPERATION, close::OPERATION] {
        lock_when_settled(a, &file, ONE, shared(0, 9));
        lose(lost);
        unlock(a, &file, ONE, FileLock::ALL);
        middleman.judge(|_| Fate::Pass);
        lock_at_last(b, &file, ONE, exclusive(0, u64::MAX));
        unlock(b, &file, ONE, FileLock::ALL);
    }
    lock_when_settled(a, &file, TWO, exclusive(0, 9));
    unlock(a, &file, TWO, FileLock::ALL);
}

#[test]
fn locks_outlive_the_server() {
    let (files, records) = (memory() as Arc<dyn FileSystem>, tempfile::tempdir().expect("a directory"));
    let first = with_records("127.0.0.1:0".parse().expect("an address"), &files, records.path());
    let (address, clients) = (first.address, [0, 1].map(|_| first.client("version=4&lanes=2")));
    let [a, b] = [&*clients[0], &*clients[1]];
    let file = made(a);
    assert_eq!(lock(a, &file, ONE, exclusive(0, 9)), Ok(None));
    assert_eq!(lock(a, &file, ONE, exclusive(20, 29)), Ok(None));
    assert_eq!(lock(a, &file, TWO, shared(50, u64::MAX)), Ok(None));
    let mut served = Some(first);
    for _ in 0..2 {
        drop(served.take());
        served = Some(with_records(address, &files, records.path()));
        // By the open, which is reclaimed before.
        assert_eq!(write(a, &file, b"data"), Ok(4));
        for held in [exclusive(0, 9), exclusive(20, 29), shared(50, u64::MAX)] {
            let wanted = exclusive(held.first, held.last);
            assert_eq!(lock(b, &file, ONE, wanted), Ok(Some(held)));
        }
        assert_eq!(lock(b, &file, ONE, exclusive(10, 19)), Ok(None));
        unlock(b, &file, ONE, FileLock::ALL);
    }
    unlock(a, &file, ONE, (0, 9));
    assert_eq!(lock(b, &file, ONE, exclusive(0, 19)), Ok(None));
    for owner in [ONE, TWO] {
        unlock(a, &file, owner, FileLock::ALL);
    }
    assert_eq!(lock(b, &file, ONE, exclusive(0, u64::MAX)), Ok(None));
}

#[test]
fn a_lock_that_the_server_lost_is_an_error_of_the_file_until_it_is_unlocked() {
    let files = memory() as Arc<dyn FileSystem>;
    let serve = |address, head| {
        let states = StateOptions::forgetful().of_head(head).with_lease(LEASE);
        serve_with(address, Arc::clone(&files), states, Default::default())
    };
    let first = serve("127.0.0.1:0".parse().expect("an address"), 1);
    let (address, clients) = (first.address, [0, 1].map(|_| first.client("version=4")));
    let [a, b] = [&*clients[0], &*clients[1]];
    let file = made(a);
    assert_eq!(lock(a, &file, ONE, exclusive(0, 9)), Ok(None));
    assert_eq!(lock(a, &file, TWO, exclusive(10, 19)), Ok(None));
    drop(first);
    // This one remembers no client, and so gives nothing back.
    let _second = serve(address, 2);
    assert_eq!(lock(b, &file, ONE, exclusive(0, 19)), Ok(None));
    assert_eq!((read(a, &file), write(a, &file, b"x")), (Err(FsError::Io), Err(FsError::Io)));
    assert_eq!(lock(a, &file, ONE, exclusive(30, 39)), Err(FsError::Io));
    let (ranges, change) = (a.ranges().expect("4.2"), &mut Change::default());
    let extent = FileExtent { node: &file, offset: 0, length: 10 };
    assert_eq!(ranges.allocate(&ME, extent, change), Err(FsError::Io));
    assert_eq!(ranges.deallocate(&ME, extent, change), Err(FsError::Io));
    let range = CopyRange::new((&file, 0), (&file, 20), 10);
    assert_eq!(ranges.copy_range(&ME, range, change).map(|_| ()), Err(FsError::Io));
    assert_eq!(ranges.clone_range(&ME, range, change), Err(FsError::Io));
    unlock(a, &file, ONE, (0, 9));
    assert_eq!(read(a, &file), Err(FsError::Io), "the other lock owner does not know yet");
    unlock(a, &file, TWO, FileLock::ALL);
    assert_eq!(read(a, &file), Ok(Vec::new()));
    assert_eq!(lock(a, &file, ONE, exclusive(0, 9)), Ok(Some(exclusive(0, 19))));
    unlock(b, &file, ONE, FileLock::ALL);
    assert_eq!(lock(a, &file, ONE, exclusive(0, 9)), Ok(None));
}
