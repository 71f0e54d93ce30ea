//! Restarts of the server.

use std::time::Duration;

use howdah_state::{ClientId, LockKind, NlmLockRequest, NlmOwner, OpenRequest, StateError};

use crate::server::*;

const NOW: Duration = Duration::ZERO;

fn reclaim(
    state: &mut State,
    now: Duration,
    client: ClientId,
) -> Result<howdah_state::OpenAnswer, StateError> {
    let ((access, deny), key) = (BOTH, &"file");
    state.open(now, OpenRequest { client, owner: b"o", key, access, deny, is_reclaim: true })
}

/// A server that had these clients, after a restart.
fn after(names: &[&str]) -> State {
    let mut state = server();
    for name in names {
        connect(&mut state, NOW, name);
    }
    restart(&mut state)
}

#[test]
fn only_those_who_were_there_reclaim_and_only_until_they_are_complete() {
    let mut state = after(&["a", "b"]);
    assert!(state.is_grace());
    let (a, stranger) = (confirm(&mut state, NOW, "a"), confirm(&mut state, NOW, "s"));
    assert_eq!(reclaim(&mut state, NOW, stranger), Err(StateError::ReclaimBad));
    assert_eq!(open(&mut state, NOW, a, "o", BOTH), Err(StateError::Grace));
    reclaim(&mut state, NOW, a).expect("a reclaim");
    state.reclaim_complete(NOW, a, true).expect("one file system");
    reclaim(&mut state, NOW, a).expect("a reclaim");
    state.reclaim_complete(NOW, a, false).expect("RECLAIM_COMPLETE");
    assert_eq!(state.reclaim_complete(NOW, a, false), Err(StateError::CompleteAlready));
    assert_eq!(reclaim(&mut state, NOW, a), Err(StateError::NoGrace));
    assert_eq!(open(&mut state, NOW, a, "o", BOTH), Err(StateError::Grace), "b is still away");
    connect(&mut state, NOW, "b");
    assert!(!state.is_grace(), "all are back");
    open(&mut state, NOW, a, "o", BOTH).expect("OPEN");
    assert_eq!(open(&mut state, NOW, stranger, "o", BOTH), Err(StateError::Grace), "it is not complete");
    state.reclaim_complete(NOW, stranger, false).expect("RECLAIM_COMPLETE");
    open(&mut state, NOW, stranger, "o", BOTH).expect("OPEN");
}

#[test]
fn there_is_no_grace_when_nobody_was_there() {
    assert!(!after(&[]).is_grace());
}

#[test]
fn another_principal_reclaims_nothing() {
    let mut state = after(&["a"]);
    let exchanged = exchange(&mut state, NOW, "a", 1, "q", false).expect("EXCHANGE_ID");
    create(&mut state, NOW, exchanged, "q").expect("CREATE_SESSION");
    assert_eq!(reclaim(&mut state, NOW, exchanged.client), Err(StateError::ReclaimBad));
    state.reclaim_complete(NOW, exchanged.client, false).expect("RECLAIM_COMPLETE");
    assert!(state.is_grace(), "a is still away");
}

#[test]
fn a_second_restart_within_grace_takes_nothing_from_those_still_away() {
    let mut state = after(&["a", "b"]);
    connect(&mut state, NOW, "a");
    let mut state = restart(&mut state);
    let b = confirm(&mut state, NOW, "b");
    reclaim(&mut state, NOW, b).expect("a reclaim");
    state.expire(LEASE);
    assert!(!state.is_grace());
    let mut state = restart(&mut state);
    let a = confirm(&mut state, NOW, "a");
    assert_eq!(reclaim(&mut state, NOW, a), Err(StateError::ReclaimBad), "it did not come in time");
}

#[test]
fn hosts_reclaim_too() {
    let mut state = server();
    let owner = |host| NlmOwner { host, svid: 1, oh: [1].into() };
    let lock = |state: &mut State, name: &[u8], is_reclaim| {
        let owner = owner(nlm_host(state, name).expect("a host"));
        let (key, kind, range) = (&"file", LockKind::Write, range(0, 9));
        state
            .nlm(NOW)
            .lock(NlmLockRequest { owner: &owner, key, kind, range, waits: false, is_reclaim })
            .map(|_| ())
    };
    assert_eq!(lock(&mut state, b"h", true), Err(StateError::NoGrace));
    lock(&mut state, b"h", false).expect("LOCK");
    let mut state = restart(&mut state);
    assert!(state.records().earlier_hosts().eq([b"h"]));
    assert_eq!(lock(&mut state, b"h", false), Err(StateError::Grace));
    assert_eq!(lock(&mut state, b"i", true), Err(StateError::ReclaimBad));
    lock(&mut state, b"h", true).expect("a reclaim");
    state.expire(LEASE);
    assert!(!state.is_grace());
    assert!(matches!(lock(&mut state, b"i", false), Err(StateError::Denied(_))));
}
