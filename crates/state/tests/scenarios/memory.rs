//! Memory of all that clients and hosts hold.

use std::time::Duration;

use howdah_state::{
    LockKind, MemoryBounds, NlmLockRequest, NlmOwner, OpenRequest, SequenceAnswer, SequenceRequest,
    SessionAnswer, ShareAccess, ShareDeny, StateBounds, StateError,
};

use crate::server::*;

const NOW: Duration = Duration::ZERO;

fn bounded(all: usize, of_network: usize) -> State {
    start(StateBounds { memory: MemoryBounds { all, of_network }, ..StateBounds::default() })
}

/// Opens the one file as other owners, with long names, until it is refused. How often.
fn open_all(state: &mut State, now: Duration, client: howdah_state::ClientId) -> usize {
    let mut count = 0;
    loop {
        let owner = format!("{count:01000}");
        match open(state, now, client, &owner, BOTH) {
            Ok(_) => count += 1,
            Err(StateError::NoSpace) => return count,
            Err(error) => panic!("{error:?}"),
        }
        assert!(count < 1_000, "no bound");
    }
}

#[test]
fn memory_of_a_network_is_bounded() {
    let mut state = bounded(1 << 30, 300_000);
    let (greedy, other) = (connect(&mut state, NOW, "a"), connect(&mut state, NOW, "b"));
    let opens = open_all(&mut state, NOW, greedy);
    assert!((60..100).contains(&opens), "{opens}");
    // A second client of the same address has no more, and one of another address all that it wants.
    let neighbour = exchange(&mut state, NOW, "n", 1, "a", false);
    if let Ok(neighbour) = neighbour {
        assert_eq!(create(&mut state, NOW, neighbour, "a").err(), Some(StateError::NoSpace));
    }
    open(&mut state, NOW, other, "o", BOTH).expect("OPEN");
    // What is closed makes room again.
    state.release_client(NOW, greedy);
    state.expire(seconds(1));
    let again = connect(&mut state, seconds(1), "a");
    assert_eq!(open_all(&mut state, seconds(1), again), opens);
}

#[test]
fn memory_of_all_is_bounded() {
    let mut state = bounded(300_000, 1 << 30);
    let (a, b) = (connect(&mut state, NOW, "a"), connect(&mut state, NOW, "b"));
    open_all(&mut state, NOW, a);
    let long = "o".repeat(1_000);
    assert_eq!(open(&mut state, NOW, b, &long, BOTH).err(), Some(StateError::NoSpace));
    assert!(state.held_memory() <= 300_000, "{}", state.held_memory());
}

#[test]
fn clients_whose_lease_passed_make_way_and_the_longest_silent_first() {
    let mut state = bounded(300_000, 1 << 30);
    let [oldest, old] = [("a", 0), ("b", 1)].map(|(name, at)| {
        let client = connect(&mut state, seconds(at), name);
        for owner in 0..30 {
            open(&mut state, seconds(at), client, &format!("{owner:01000}"), BOTH).expect("OPEN");
        }
        client
    });
    let late = seconds(100);
    let young = connect(&mut state, late, "c");
    for owner in 0..40 {
        open(&mut state, late, young, &format!("{owner:01000}"), BOTH).expect("another made way");
    }
    let left: Vec<_> = state.clients(late).map(|client| client.client).collect();
    assert!(!left.contains(&oldest) && left.contains(&old) && left.contains(&young), "{left:?}");
}

#[test]
fn what_is_held_is_counted_and_nothing_is_left() {
    let mut state = server();
    state.expire(NOW);
    let before = state.held_memory();
    let a = connect(&mut state, NOW, "a");
    for owner in 0..50 {
        let opened = open(&mut state, NOW, a, &format!("{owner}"), BOTH).expect("OPEN");
        lock(&mut state, NOW, a, opened.stateid, range(2 * owner, 2 * owner)).expect("LOCK");
    }
    let host = nlm_host(&mut state, b"h").expect("a host");
    for svid in 0..50 {
        let owner = NlmOwner { host, svid, oh: [7; 100].into() };
        let range = range(u64::from(1_000 + svid), u64::from(1_000 + svid));
        let request = NlmLockRequest {
            owner: &owner,
            key: &"file",
            kind: LockKind::Write,
            range,
            waits: false,
            is_reclaim: false,
        };
        state.nlm(NOW).lock(request).expect("LOCK");
        state.nlm(NOW).share(&owner, &"file", (ShareAccess::READ, ShareDeny::NONE), false).expect("SHARE");
    }
    let granted = state.held_memory();
    state.expire(seconds(1));
    let counted = state.held_memory();
    assert!(before + 50_000 < counted && counted <= granted, "{before} {counted} {granted}");
    state.release_client(seconds(1), a);
    state.release_host(seconds(1), host);
    state.expire(seconds(2));
    assert_eq!(state.held_memory(), before);
}

#[test]
fn a_network_that_holds_too_much_gets_no_more_slots() {
    let mut state = bounded(1 << 30, 100_000);
    let made = exchange(&mut state, NOW, "a", 1, "a", false).expect("EXCHANGE_ID");
    let caller = howdah_state::ClientCaller { principal: &principal("a"), network: address("a") };
    let session = state.create_session(NOW, made.client, made.sequence, caller, 1_024, ());
    let Ok(SessionAnswer::Created(session)) = session else { panic!("{session:?}") };
    state.reclaim_complete(NOW, made.client, false).expect("RECLAIM_COMPLETE");
    let call = |slot: u32| {
        let request = SequenceRequest { sequence: 1, slot, highest_slot: 1_023, digest: 0 };
        session.sequence(NOW, request).map(|answer| assert!(matches!(answer, SequenceAnswer::New(_))))
    };
    assert_eq!(call(500), Ok(()));
    let mut owner = 0;
    while state
        .open(
            NOW,
            OpenRequest {
                client: made.client,
                owner: format!("{owner:01000}").as_bytes(),
                key: &"file",
                access: ShareAccess::BOTH,
                deny: ShareDeny::NONE,
                is_reclaim: false,
            },
        )
        .is_ok()
    {
        owner += 1;
    }
    // One slot more than the network may hold.
    (0..30).for_each(|block| drop(call(16 * block + 1)));
    state.expire(seconds(1));
    assert_eq!(call(700), Err(StateError::Delay), "a slot that has no memory yet");
    assert_eq!(call(501), Ok(()), "one that has");
    state.release_client(seconds(1), made.client);
}
