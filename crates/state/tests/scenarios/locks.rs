//! LOCK, LOCKT, LOCKU, FREE_STATEID.

use std::time::Duration;

use howdah_state::{
    ByteRange, Effect, LockKind, LockRequest, Locker, MirrorPiece, ShareAccess, ShareDeny, StateBounds,
    StateError,
};

use crate::server::*;

const NOW: Duration = Duration::ZERO;

#[test]
fn ranges_come_from_lengths() {
    assert_eq!(ByteRange::from_length(5, 0), Err(StateError::Invalid));
    assert_eq!(ByteRange::from_length(5, u64::MAX), Ok(range(5, u64::MAX)));
    assert_eq!(ByteRange::from_length(5, 2), Ok(range(5, 6)));
    assert_eq!(ByteRange::from_length(u64::MAX, 1), Err(StateError::Invalid));
    assert_eq!(ByteRange::from_length(u64::MAX - 5, 5), Ok(range(u64::MAX - 5, u64::MAX - 1)));
    assert_eq!((range(5, 6).length(), range(5, u64::MAX).length()), (2, u64::MAX));
}

#[test]
fn a_conflict_names_the_holder_and_unlocking_a_part_splits() {
    let mut state = server();
    let (a, b) = (connect(&mut state, NOW, "a"), connect(&mut state, NOW, "b"));
    let [mine, theirs] = [a, b].map(|client| open(&mut state, NOW, client, "o", BOTH).expect("OPEN").stateid);
    let locked = lock(&mut state, NOW, a, mine, range(0, 99)).expect("LOCK");
    let denied = lock(&mut state, NOW, b, theirs, range(50, 50));
    let Err(StateError::Denied(conflict)) = denied else { panic!("{denied:?}") };
    assert_eq!(
        (conflict.range, conflict.kind, &conflict.owner),
        (range(0, 99), LockKind::Write, &locked.owner)
    );
    state.take_effects();
    let unlocked = state.unlock(NOW, a, locked.stateid, &"file", range(40, 59)).expect("LOCKU");
    assert_eq!(state.take_effects().list[0], Effect::Mirror { key: "file", range: range(40, 59) });
    let piece = |first, last, kind| MirrorPiece { range: range(first, last), kind };
    let pieces = vec![piece(30, 39, Some(LockKind::Write)), piece(40, 59, None)];
    assert_eq!(state.files().locks.ranges.union(&"file", range(30, 59)), (pieces, true));
    let held: Vec<_> = state.files().locks.held().map(|lock| lock.range).collect();
    assert_eq!(held, [range(0, 39), range(60, 99)]);
    lock(&mut state, NOW, b, theirs, range(50, 50)).expect("LOCK");
    let tested = state.test_lock(NOW, b, b"p", &"file", LockKind::Read, range(0, 0));
    assert!(matches!(tested, Err(StateError::Denied(_))), "{tested:?}");
    assert_eq!(state.free_stateid(a, unlocked), Err(StateError::LocksHeld));
    assert_eq!(state.free_stateid(a, mine), Err(StateError::LocksHeld));
    let unlocked = state.unlock(NOW, a, unlocked, &"file", ByteRange::ALL).expect("LOCKU");
    assert_eq!(state.free_stateid(a, unlocked), Ok(()));
    assert_eq!(state.free_stateid(a, unlocked), Err(StateError::BadStateId));
}

#[test]
fn close_lets_locks_go() {
    let mut state = server();
    let a = connect(&mut state, NOW, "a");
    let mine = open(&mut state, NOW, a, "o", BOTH).expect("OPEN").stateid;
    let locked = lock(&mut state, NOW, a, mine, range(0, 99)).expect("LOCK");
    state.close(NOW, a, mine, &"file").expect("CLOSE");
    assert_eq!(state.files().locks.held().count() + state.files().count(), 0);
    assert_eq!(state.test_stateid(a, locked.stateid), Err(StateError::BadStateId));
}

#[test]
fn a_lock_needs_an_open_that_allows_it() {
    let mut state = server();
    let a = connect(&mut state, NOW, "a");
    let mine = open(&mut state, NOW, a, "o", (ShareAccess::READ, ShareDeny::NONE)).expect("OPEN").stateid;
    assert_eq!(lock(&mut state, NOW, a, mine, range(0, 0)), Err(StateError::OpenMode));
}

#[test]
fn what_the_kernel_refuses_is_as_if_it_had_been_denied() {
    let mut state = server();
    let a = connect(&mut state, NOW, "a");
    let mine = open(&mut state, NOW, a, "o", BOTH).expect("OPEN").stateid;
    let refused = lock(&mut state, NOW, a, mine, range(0, 9)).expect("LOCK");
    state.refuse(NOW, &refused, false);
    assert_eq!(state.files().locks.held().count(), 0);
    assert_eq!(state.test_stateid(a, refused.stateid), Err(StateError::BadStateId));
    let locked = lock(&mut state, NOW, a, mine, range(0, 9)).expect("LOCK");
    let (locker, key, kind) = (Locker::Existing(locked.stateid), &"file", LockKind::Read);
    let request =
        LockRequest { client: a, locker, key, kind, range: range(5, 19), waits: false, is_reclaim: false };
    let refused = state.lock(NOW, request).expect("LOCK");
    assert_eq!(refused.stateid.seqid, 2);
    state.refuse(NOW, &refused, false);
    assert_eq!(state.test_stateid(a, locked.stateid), Ok(()), "the client has not heard of another");
    let held: Vec<_> = state.files().locks.held().map(|lock| (lock.range, lock.kind)).collect();
    assert_eq!(held, [(range(0, 9), LockKind::Write)]);
}

#[test]
fn ranges_of_a_file_are_bounded() {
    let mut state = start(StateBounds { ranges_of_file: 2, ..StateBounds::default() });
    let [a, b] = ["a", "b"].map(|name| connect(&mut state, NOW, name));
    let [its, others] = [a, b].map(|one| open(&mut state, NOW, one, "o", BOTH).expect("OPEN").stateid);
    let locked = lock(&mut state, NOW, a, its, range(0, 9)).expect("LOCK");
    lock(&mut state, NOW, b, others, range(20, 29)).expect("LOCK");
    assert_eq!(lock(&mut state, NOW, a, its, range(40, 49)), Err(StateError::NoSpace));
    state.unlock(NOW, a, locked.stateid, &"file", range(0, 9)).expect("LOCKU");
    lock(&mut state, NOW, a, its, range(40, 49)).expect("there is room again");
}

#[test]
fn ranges_of_a_client_are_bounded() {
    let mut state = start(StateBounds { ranges_of_client: 2, ..StateBounds::default() });
    let a = connect(&mut state, NOW, "a");
    let mine = open(&mut state, NOW, a, "o", BOTH).expect("OPEN").stateid;
    lock(&mut state, NOW, a, mine, range(0, 9)).expect("LOCK");
    let locked = lock(&mut state, NOW, a, mine, range(20, 29)).expect("LOCK");
    assert_eq!(lock(&mut state, NOW, a, mine, range(40, 49)), Err(StateError::NoSpace));
    let unlocked = state.unlock(NOW, a, locked.stateid, &"file", range(5, 5));
    assert_eq!(unlocked, Err(StateError::NoSpace), "it would be three");
    state.unlock(NOW, a, locked.stateid, &"file", range(0, 9)).expect("LOCKU");
}
