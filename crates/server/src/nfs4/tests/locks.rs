//! Byte-range locks.

use howdah_state::limits::RANGES_OF_FILE_MAX;
use howdah_wire::nfs4::attributes::Values;
use howdah_wire::nfs4::lock::{self, Denied, FirstLock, FurtherLock, LockingOwner};
use howdah_wire::nfs4::open::{ACCESS_BOTH, DENY_NONE, How};
use howdah_wire::nfs4::{
    LockKind, Opaque, Owner, StateId, Status, close, free_stateid, lockt, locku, putfh, test_stateid,
};
use howdah_wire::xdr::Array;

use super::client::{Answer, Client, put, service, service_with, step};

fn opened(client: &mut Client) -> (StateId, Vec<u8>) {
    let root = client.handle(&[]).expect("the root");
    let how = Some(How::Unchecked(Values::default()));
    client.open(&root, "file", "owner", (ACCESS_BOTH, DENY_NONE), how).expect("opened")
}

fn lock(
    client: &mut Client,
    file: &[u8],
    locker: LockingOwner<'_>,
    kind: LockKind,
    (offset, length): (u64, u64),
) -> Answer {
    let arguments = lock::Arguments { kind, reclaim: false, offset, length, locker };
    let mut answer = client.call(&[put(file), step(lock::OPERATION, &arguments)]);
    answer.skip(putfh::OPERATION).expect("put");
    answer
}

fn first<'a>(client: &Client, open: StateId, owner: &'a [u8]) -> LockingOwner<'a> {
    let owner = Owner { client: client.id, owner: Opaque(owner) };
    LockingOwner::First(FirstLock { open_sequence: 0, open, lock_sequence: 0, owner })
}

#[test]
fn owners_exclude_each_other_and_are_told_who_holds_it() {
    let service = service(&["/"]);
    let [mut one, mut other] = ["one", "the other"].map(|name| Client::new(&service, name));
    let ((open, file), (other_open, _)) = (opened(&mut one), opened(&mut other));
    let locker = first(&one, open, b"mine");
    let mut answer = lock(&mut one, &file, locker, LockKind::Write, (10, 10));
    let state = answer.take::<lock::Success>(lock::OPERATION).state;
    let locker = first(&other, other_open, b"theirs");
    let mut answer = lock(&mut other, &file, locker, LockKind::ReadWait, (0, u64::MAX));
    assert_eq!(answer.status_of(lock::OPERATION), Status::DENIED);
    let denied: Denied<'_> = answer.body();
    assert_eq!((denied.offset, denied.length, denied.kind), (10, 10, LockKind::Write));
    assert_eq!(denied.owner, Owner { client: one.id, owner: Opaque(b"mine") });
    let test = lockt::Arguments {
        kind: LockKind::Write,
        offset: 19,
        length: 1,
        owner: Owner { client: other.id, owner: Opaque(b"theirs") },
    };
    assert_eq!(other.call(&[put(&file), step(lockt::OPERATION, &test)]).status, Status::DENIED);
    let unlock = locku::Arguments { kind: LockKind::Write, sequence: 0, state, offset: 15, length: u64::MAX };
    assert_eq!(one.call(&[put(&file), step(locku::OPERATION, &unlock)]).status, Status::OK);
    assert_eq!(other.call(&[put(&file), step(lockt::OPERATION, &test)]).status, Status::OK);
    let test = lockt::Arguments { offset: 14, ..test };
    assert_eq!(other.call(&[put(&file), step(lockt::OPERATION, &test)]).status, Status::DENIED);
}

#[test]
fn a_further_lock_goes_by_the_locks_of_its_owner() {
    let mut client = Client::new(&service(&["/"]), "client");
    let (open, file) = opened(&mut client);
    let locker = first(&client, open, b"mine");
    let state = lock(&mut client, &file, locker, LockKind::Write, (0, 1))
        .take::<lock::Success>(lock::OPERATION)
        .state;
    let further = LockingOwner::Further(FurtherLock { state, sequence: 0 });
    let mut answer = lock(&mut client, &file, further, LockKind::Read, (5, 1));
    let next = answer.take::<lock::Success>(lock::OPERATION).state;
    assert_eq!((next.other, next.sequence), (state.other, state.sequence + 1));
    let free = |state| step(free_stateid::OPERATION, &free_stateid::Arguments { state });
    assert_eq!(client.call(&[free(next)]).status, Status::LOCKS_HELD);
    let unlock =
        locku::Arguments { kind: LockKind::Write, sequence: 0, state: next, offset: 0, length: u64::MAX };
    let mut answer = client.call(&[put(&file), step(locku::OPERATION, &unlock)]);
    answer.skip(putfh::OPERATION).expect("put");
    let last = answer.take::<locku::Success>(locku::OPERATION).state;
    let states = [last, StateId { sequence: 0, other: [7; 12] }];
    let test = step(test_stateid::OPERATION, &test_stateid::Arguments { states: Array::of(&states) });
    let mut answer = client.call(&[test]);
    let statuses: test_stateid::Success<'_> = answer.take(test_stateid::OPERATION);
    assert_eq!(statuses.statuses.iter().collect::<Vec<_>>(), [Status::OK, Status::BAD_STATEID]);
    assert_eq!(client.call(&[free(last)]).status, Status::OK);
    assert_eq!(client.call(&[free(last)]).status, Status::BAD_STATEID);
}

#[test]
fn ranges_that_are_none_are_refused() {
    let mut client = Client::new(&service(&["/"]), "client");
    let (open, file) = opened(&mut client);
    for range in [(0, 0), (2, u64::MAX - 1)] {
        let locker = first(&client, open, b"mine");
        let mut answer = lock(&mut client, &file, locker, LockKind::Read, range);
        assert_eq!(answer.status_of(lock::OPERATION), Status::INVAL, "{range:?}");
    }
}

#[test]
fn locks_beyond_the_limit_wait_until_others_end() {
    let mut client = Client::new(&service(&["/"]), "client");
    let (open, file) = opened(&mut client);
    let locker = first(&client, open, b"mine");
    let mut answer = lock(&mut client, &file, locker, LockKind::Write, (0, 4));
    let mut state = answer.take::<lock::Success>(lock::OPERATION).state;
    // Apart from each other, so that no two become one.
    let offset = |number: usize| 10 * number as u64;
    for number in 1..RANGES_OF_FILE_MAX {
        let locker = LockingOwner::Further(FurtherLock { state, sequence: 0 });
        let mut answer = lock(&mut client, &file, locker, LockKind::Write, (offset(number), 4));
        state = answer.take::<lock::Success>(lock::OPERATION).state;
    }
    let further = || LockingOwner::Further(FurtherLock { state, sequence: 0 });
    let beyond = (offset(RANGES_OF_FILE_MAX), 4);
    for locker in [further(), first(&client, open, b"another owner")] {
        let mut answer = lock(&mut client, &file, locker, LockKind::Write, beyond);
        assert_eq!(answer.status_of(lock::OPERATION), Status::DELAY);
    }
    let mut unlock = |offset, length| {
        let arguments = locku::Arguments { kind: LockKind::Write, sequence: 0, state, offset, length };
        client.call(&[put(&file), step(locku::OPERATION, &arguments)]).status
    };
    assert_eq!(unlock(1, 1), Status::SERVERFAULT, "one range would become two, and nobody else makes room");
    assert_eq!(unlock(0, 4), Status::OK);
    state.sequence += 1;
    let locker = LockingOwner::Further(FurtherLock { state, sequence: 0 });
    lock(&mut client, &file, locker, LockKind::Write, beyond).take::<lock::Success>(lock::OPERATION);
}

#[test]
fn closing_lets_locks_go() {
    let service = service(&["/"]);
    let [mut one, mut other] = ["one", "the other"].map(|name| Client::new(&service, name));
    let ((open, file), (other_open, _)) = (opened(&mut one), opened(&mut other));
    let locker = first(&one, open, b"mine");
    lock(&mut one, &file, locker, LockKind::Write, (0, 1)).take::<lock::Success>(lock::OPERATION);
    let close = step(close::OPERATION, &close::Arguments { sequence: 0, state: open });
    assert_eq!(one.call(&[put(&file), close]).status, Status::OK);
    let locker = first(&other, other_open, b"theirs");
    let mut answer = lock(&mut other, &file, locker, LockKind::Write, (0, 1));
    answer.take::<lock::Success>(lock::OPERATION);
}

#[test]
fn an_export_that_refuses_locks_gives_none_and_lets_its_files_be_opened() {
    let service = service_with(&["/"], |export| export.with_locks_refused(true));
    let mut client = Client::new(&service, "client");
    let (open, file) = opened(&mut client);
    for kind in [LockKind::Read, LockKind::Write, LockKind::ReadWait, LockKind::WriteWait] {
        let locker = first(&client, open, b"mine");
        let mut answer = lock(&mut client, &file, locker, kind, (0, 1));
        assert_eq!(answer.status_of(lock::OPERATION), Status::INVAL, "{kind:?}");
        let owner = Owner { client: client.id, owner: Opaque(b"mine") };
        let test = lockt::Arguments { kind, offset: 0, length: 1, owner };
        assert_eq!(
            client.call(&[put(&file), step(lockt::OPERATION, &test)]).status,
            Status::INVAL,
            "{kind:?}"
        );
    }
    let close = close::Arguments { sequence: 0, state: open };
    assert_eq!(client.call(&[put(&file), step(close::OPERATION, &close)]).status, Status::OK);
}
