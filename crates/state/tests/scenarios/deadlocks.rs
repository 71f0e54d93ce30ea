//! Owners that wait for each other.

use std::time::Duration;

use howdah_state::{ByteRange, LockKind, NlmLockRequest, NlmOwner, StateError};

use crate::server::*;

const NOW: Duration = Duration::ZERO;

fn is_waiting<T>(outcome: Result<T, StateError>) -> bool {
    matches!(outcome, Err(StateError::Denied(conflict)) if conflict.is_waiting)
}

fn nlm_lock(state: &mut State, owner: &NlmOwner, range: ByteRange) -> Result<(), StateError> {
    let (key, kind) = (&"file", LockKind::Write);
    let request = NlmLockRequest { owner, key, kind, range, waits: true, is_reclaim: false };
    state.nlm(NOW).lock(request).map(drop)
}

/// Owners of one host, each with a byte of its own.
fn owners(state: &mut State) -> [NlmOwner; 3] {
    let host = nlm_host(state, b"h").expect("a host");
    let owners = [1, 2, 3].map(|svid| NlmOwner { host, svid, oh: [1].into() });
    for (byte, owner) in (0..).zip(&owners) {
        nlm_lock(state, owner, range(byte, byte)).expect("LOCK");
    }
    owners
}

#[test]
fn who_would_close_a_circle_of_hosts_is_refused_and_the_others_wait_on() {
    let mut state = server();
    let [one, two, three] = owners(&mut state);
    assert!(is_waiting(nlm_lock(&mut state, &one, range(1, 1))));
    assert!(is_waiting(nlm_lock(&mut state, &two, range(2, 2))));
    assert_eq!(nlm_lock(&mut state, &three, range(0, 0)), Err(StateError::Deadlock));
    assert_eq!(state.files().locks.waits().count(), 2);
    state.nlm(NOW).unlock(&three, &"file", range(2, 2)).expect("UNLOCK");
    assert_eq!(nlm_lock(&mut state, &three, range(9, 9)), Ok(()));
    assert!(
        is_waiting(nlm_lock(&mut state, &three, range(2, 2))),
        "the second has it now, and waits for nobody"
    );
}

#[test]
fn an_owner_that_gave_up_or_waits_twice_closes_no_circle() {
    let mut state = server();
    let [one, two, _] = owners(&mut state);
    assert!(is_waiting(nlm_lock(&mut state, &one, range(1, 1))));
    assert!(is_waiting(nlm_lock(&mut state, &one, range(2, 2))));
    assert!(is_waiting(nlm_lock(&mut state, &two, range(0, 0))), "another thread of the first may unlock");
    state.nlm(NOW).cancel(&two, &"file", LockKind::Write, range(0, 0));
    state.nlm(NOW).cancel(&one, &"file", LockKind::Write, range(2, 2));
    assert_eq!(nlm_lock(&mut state, &two, range(0, 0)), Err(StateError::Deadlock));
    state.nlm(NOW).cancel(&one, &"file", LockKind::Write, range(1, 1));
    assert!(is_waiting(nlm_lock(&mut state, &two, range(0, 0))));
}

/// A process that is interrupted while it waits sends the server nothing.
#[test]
fn a_client_of_nfsv4_must_have_asked_again_since_the_circle_is_closed() {
    let mut state = server();
    let clients = ["a", "b"].map(|name| {
        let client = connect(&mut state, NOW, name);
        (client, open(&mut state, NOW, client, "o", BOTH).expect("OPEN").stateid)
    });
    let [a, b] = clients;
    let ask = |state: &mut State, second, (client, open), byte| {
        lock(state, seconds(second), client, open, range(byte, byte)).map(drop)
    };
    ask(&mut state, 0, a, 0).expect("LOCK");
    ask(&mut state, 0, b, 1).expect("LOCK");
    assert!(is_waiting(ask(&mut state, 1, a, 1)));
    assert!(is_waiting(ask(&mut state, 2, b, 0)), "the first may have given up");
    assert!(is_waiting(ask(&mut state, 3, b, 0)), "still so");
    assert_eq!(ask(&mut state, 4, a, 1), Err(StateError::Deadlock));
    assert!(is_waiting(ask(&mut state, 5, b, 0)), "the first waits no more");
}

#[test]
fn a_circle_through_both_protocols_is_seen() {
    let mut state = server();
    let [one, ..] = owners(&mut state);
    let client = connect(&mut state, NOW, "a");
    let open = open(&mut state, NOW, client, "o", BOTH).expect("OPEN").stateid;
    lock(&mut state, NOW, client, open, range(5, 5)).expect("LOCK");
    assert!(is_waiting(nlm_lock(&mut state, &one, range(5, 5))));
    assert!(matches!(lock(&mut state, NOW, client, open, range(0, 0)), Err(StateError::Deadlock)));
}
