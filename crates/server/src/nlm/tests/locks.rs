//! Locks and shares.

use std::sync::Arc;

use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{Caller, Change, Create, CreateFile, FileSystem, Name, NewAttributes};
use howdah_wire::nlm::share::{ShareAccess, ShareDeny};
use howdah_wire::nlm::test::Outcome;
use howdah_wire::nlm::{Holder, LockOwner, Status};

use super::client::{Client, Fixture, SERVER};
use crate::Transport;
use crate::calling::{peer, shows};
use crate::exports::{ClientRule, Export, Exports, SecurityFlavor, SecurityFlavors, TlsPolicy};
use crate::states::StateOptions;

const LAST: u64 = i64::MAX as u64;

#[test]
fn processes_exclude_each_other_and_are_told_who_is_in_the_way() {
    let fixture = Fixture::new();
    let (one, other) = (fixture.client("one", "192.0.2.9"), fixture.client("other", "192.0.2.10"));
    assert_eq!(one.lock(&fixture.file, 1, (10, 10)), Status::Granted);
    assert_eq!(one.lock(&fixture.file, 1, (10, 10)), Status::Granted, "once more");
    assert_eq!(one.lock(&fixture.file, 2, (19, 1)), Status::Denied, "another process of the host");
    assert_eq!(other.lock(&fixture.file, 1, (0, 11)), Status::Denied, "another host");
    assert_eq!(other.lock(&fixture.file, 1, (20, 0)), Status::Granted, "beside it");
    let holder = Holder { exclusive: true, process: 1, owner: LockOwner(b"owner"), offset: 10, length: 10 };
    assert_eq!(other.test(&fixture.file, 1, (15, 1)), Outcome::Denied(holder));
    assert_eq!(one.test(&fixture.file, 1, (15, 1)), Outcome::Other(Status::Granted), "its own");
    assert_eq!(one.unlock(&fixture.file, 1, (0, 0)), Status::Granted);
    assert_eq!(one.unlock(&fixture.file, 1, (0, 0)), Status::Granted, "of nothing");
    assert_eq!(other.lock(&fixture.file, 1, (10, 10)), Status::Granted);
}

#[test]
fn readers_share() {
    let fixture = Fixture::new();
    let client = fixture.client("one", "192.0.2.9");
    for process in [1, 2] {
        let lock = client.bytes(&fixture.file, process, (0, 0));
        assert_eq!(client.lock_as(lock, false, false, false), Status::Granted);
    }
    assert_eq!(client.lock(&fixture.file, 1, (0, 0)), Status::Denied, "beside another reader");
    assert_eq!(client.unlock(&fixture.file, 2, (0, 0)), Status::Granted);
    assert_eq!(client.lock(&fixture.file, 1, (0, 0)), Status::Granted);
}

#[test]
fn ranges_beyond_what_clients_can_lock_are_refused() {
    let fixture = Fixture::new();
    let client = fixture.client("one", "192.0.2.9");
    assert_eq!(client.lock(&fixture.file, 1, (LAST + 1, 1)), Status::TooBig);
    assert_eq!(client.lock(&fixture.file, 1, (1, LAST + 1)), Status::TooBig);
    assert_eq!(client.lock(&fixture.file, 1, (0, u64::MAX)), Status::Granted, "to the end");
    assert_eq!(client.test(&fixture.file, 2, (LAST + 1, 1)), Outcome::Other(Status::TooBig));
}

#[test]
fn only_who_may_use_a_file_may_lock_it() {
    let fixture = Fixture::new();
    let (client, stranger) = (fixture.client("one", "192.0.2.9"), fixture.client("one", "198.51.100.9"));
    assert_eq!(client.lock(&fixture.private, 1, (0, 0)), Status::Failed, "the file of another user");
    assert_eq!(client.lock(&fixture.directory, 1, (0, 0)), Status::Failed, "no file");
    assert_eq!(client.lock(b"made up", 1, (0, 0)), Status::Stale);
    assert_eq!(stranger.lock(&fixture.file, 1, (0, 0)), Status::Failed, "not of a host of the export");
    assert_eq!(stranger.test(&fixture.file, 1, (0, 0)), Outcome::Other(Status::Failed));
}

#[test]
fn shares_exclude_each_other() {
    let fixture = Fixture::new();
    let client = fixture.client("one", "192.0.2.9");
    let share = |owner: &[u8], access, deny| client.share(&fixture.file, owner, access, deny);
    assert_eq!(share(b"one", ShareAccess::Reading, ShareDeny::Writing), Status::Granted);
    assert_eq!(share(b"two", ShareAccess::Writing, ShareDeny::Nothing), Status::Denied);
    assert_eq!(share(b"two", ShareAccess::Reading, ShareDeny::Nothing), Status::Granted);
    assert_eq!(client.unshare(&fixture.file, b"one"), Status::Granted);
    assert_eq!(client.unshare(&fixture.file, b"one"), Status::Granted, "of nothing");
    assert_eq!(share(b"two", ShareAccess::Both, ShareDeny::Both), Status::Granted);
}

#[test]
fn locks_are_taken_and_freed_only_by_calls_that_the_export_takes() {
    let memory = Arc::new(MemoryFileSystem::new());
    let new = Create::Guarded(NewAttributes::with_mode(0o666));
    let (name, change) = (Name::parse(b"file").expect("a name"), &mut Change::default());
    let made = memory
        .create(&Caller::ROOT, CreateFile::new(&memory.root(), name, &new), change)
        .expect("made")
        .handle;
    let fixture = Fixture::of(memory.clone(), [made, made, memory.root()], StateOptions::forgetful());
    let mut client = fixture.client("one", "192.0.2.9");
    let file =
        |client: &Client| [client.lock(&fixture.file, 1, (0, 0)), client.unlock(&fixture.file, 1, (0, 0))];
    assert_eq!(file(&client), [Status::Granted; 2]);
    let export = Export::new("/", 1, memory, vec![ClientRule::default()]).with_tls(TlsPolicy::Required);
    fixture.service.set_exports(Exports::new(vec![export], [7; 16]).expect("one"));
    assert_eq!(file(&client), [Status::Failed; 2], "in the clear");
    assert_eq!(client.test(&fixture.file, 1, (0, 0)), Outcome::Other(Status::Failed));
    shows(&mut client.peer, None);
    assert_eq!(file(&client), [Status::Granted; 2]);
}

/// Clients that mount with Kerberos lock with AUTH_SYS, as Linux does.
#[test]
fn files_of_exports_with_kerberos_are_locked_without_a_ticket() {
    let (fixture, memory) = readable();
    let client = fixture.client("one", "192.0.2.9");
    let sec = SecurityFlavors::new([SecurityFlavor::Krb5p]).expect("one");
    let rule = ClientRule { sec, ..ClientRule::default() };
    let export = Export::new("/", 1, memory, vec![rule]);
    fixture.service.set_exports(Exports::new(vec![export], [7; 16]).expect("one"));
    assert_eq!(client.lock(&fixture.file, 1, (0, 0)), Status::Granted);
    assert_eq!(client.unlock(&fixture.file, 1, (0, 0)), Status::Granted);
    assert_eq!(client.lock(&fixture.private, 1, (0, 0)), Status::Failed, "by the rights that it claims");
}

/// A file that all may write, one that all may read and its owner may write, and the root.
fn readable() -> (Fixture, Arc<MemoryFileSystem>) {
    let memory = Arc::new(MemoryFileSystem::new());
    let root = memory.root();
    let make = |name: &str, mode| {
        let name = Name::parse(name.as_bytes()).expect("a name");
        let new = NewAttributes { user: Some(7), ..NewAttributes::with_mode(mode) };
        let change = &mut Change::default();
        memory
            .create(&Caller::ROOT, CreateFile::new(&root, name, &Create::Guarded(new)), change)
            .expect("made")
            .handle
    };
    let nodes = [make("all", 0o666), make("readable", 0o644), root];
    (Fixture::of(Arc::clone(&memory) as _, nodes, StateOptions::forgetful()), memory)
}

#[test]
fn who_may_only_read_excludes_nobody() {
    let (fixture, memory) = readable();
    let one = fixture.client("one", "192.0.2.9");
    let kinds = |file: &[u8], process: u32| {
        let lock = |exclusive| one.lock_as(one.bytes(file, process, (0, 10)), exclusive, false, false);
        let share = |access, deny| one.share(file, &process.to_be_bytes(), access, deny);
        [
            lock(false),
            share(ShareAccess::Reading, ShareDeny::Nothing),
            lock(true),
            share(ShareAccess::Reading, ShareDeny::Writing),
            share(ShareAccess::Nothing, ShareDeny::Both),
            share(ShareAccess::Both, ShareDeny::Nothing),
        ]
    };
    let of_readable = kinds(&fixture.private, 1);
    assert_eq!((&of_readable[..2], &of_readable[2..]), (&[Status::Granted; 2][..], &[Status::Failed; 4][..]));
    assert_eq!(kinds(&fixture.file, 2)[..3], [Status::Granted; 3]);
    // An export that this client may only read.
    let rule = ClientRule { read_only: true, ..ClientRule::default() };
    let export = Export::new("/", 1, memory, vec![rule]);
    fixture.service.set_exports(Exports::new(vec![export], [7; 16]).expect("one"));
    assert_eq!(kinds(&fixture.file, 3)[2..], [Status::ReadOnly; 4]);
    // What it has from before it lets go.
    assert_eq!(one.unlock(&fixture.file, 2, (0, 10)), Status::Granted);
}

#[test]
fn an_ordinary_user_of_a_host_frees_nothing_that_its_root_locked() {
    let fixture = Fixture::new();
    let (root, other) = (fixture.client("one", "192.0.2.9"), fixture.client("other", "192.0.2.10"));
    let mut user = fixture.client("one", "192.0.2.9");
    user.peer = peer("192.0.2.9:40001", SERVER, Transport::Udp);
    assert_eq!(root.lock(&fixture.file, 1, (0, 10)), Status::Granted);
    assert_eq!(
        root.share(&fixture.file, b"opener", ShareAccess::Reading, ShareDeny::Writing),
        Status::Granted
    );
    let is_held = || {
        let locked = other.lock(&fixture.file, 1, (0, 10)) == Status::Denied;
        locked && other.share(&fixture.file, b"x", ShareAccess::Writing, ShareDeny::Nothing) == Status::Denied
    };
    user.unlock(&fixture.file, 1, (0, 10));
    user.unshare(&fixture.file, b"opener");
    user.free_all();
    super::hosts::notify(&user, b"one", 5);
    assert!(is_held());
    root.free_all();
    assert!(!is_held());
    // A host that never locked from a port of its root's lets go from any.
    let lone = Client { name: "lone", ..user };
    assert_eq!(lone.lock(&fixture.file, 1, (20, 10)), Status::Granted);
    assert_eq!(lone.unlock(&fixture.file, 1, (20, 10)), Status::Granted);
    assert_eq!(root.lock(&fixture.file, 1, (20, 10)), Status::Granted);
}

#[test]
fn an_export_that_refuses_locks_says_that_it_has_none() {
    let memory = MemoryFileSystem::new();
    let root = memory.root();
    let (name, change) = (Name::parse(b"file").expect("a name"), &mut Change::default());
    let how = Create::Guarded(NewAttributes::with_mode(0o666));
    let file = memory.create(&Caller::ROOT, CreateFile::new(&root, name, &how), change).expect("made").handle;
    let nodes = [file, file, root];
    let refuse = |export: Export| export.with_locks_refused(true);
    let fixture = Fixture::adjusted(Arc::new(memory), nodes, StateOptions::forgetful(), refuse);
    let client = fixture.client("one", "192.0.2.9");
    let bytes = || client.bytes(&fixture.file, 1, (0, 0));
    for exclusive in [false, true] {
        for block in [false, true] {
            assert_eq!(client.lock_as(bytes(), exclusive, block, false), Status::NoLocks);
        }
    }
    assert_eq!(client.lock_as(bytes(), true, false, true), Status::NoLocks, "from before a restart");
    assert_eq!(client.test(&fixture.file, 1, (0, 0)), Outcome::Other(Status::NoLocks));
    let share = client.share(&fixture.file, b"owner", ShareAccess::Reading, ShareDeny::Nothing);
    assert_eq!(share, Status::NoLocks);
    assert_eq!(client.unlock(&fixture.file, 1, (0, 0)), Status::Granted, "of nothing");
}
