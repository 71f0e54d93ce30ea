//! A server that takes over the clients of another one.

use std::net::IpAddr;
use std::time::Duration;

use howdah_state::{
    DurableRecord, Effect, LockKind, NlmLockRequest, NlmOwner, OpenRequest, RecoveryRecords, StateError,
};

use crate::server::*;

const NOW: Duration = Duration::ZERO;
const OTHER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 253));

/// What a server leaves that had these clients, and a host named `h`.
fn left(names: &[&str]) -> RecoveryRecords {
    let mut state = server();
    for name in names {
        connect(&mut state, NOW, name);
    }
    nlm_lock(&mut state, b"h", false).expect("LOCK");
    state.records().clone()
}

fn nlm_lock(state: &mut State, name: &[u8], is_reclaim: bool) -> Result<(), StateError> {
    let host = nlm_host(state, name).expect("a host");
    let owner = NlmOwner { host, svid: 1, oh: [1].into() };
    let (key, kind, range) = (&"locked", LockKind::Write, range(0, 9));
    let request = NlmLockRequest { owner: &owner, key, kind, range, waits: false, is_reclaim };
    state.nlm(NOW).lock(request).map(|_| ())
}

fn no_host(_: &[u8]) -> bool {
    false
}

#[test]
fn clients_of_one_address_reclaim_at_the_server_that_took_it_over() {
    let records = left(&["a"]);
    assert_eq!(records.to_take_over(OTHER, no_host), [], "they call another address");
    let mut state = server();
    let own = connect(&mut state, NOW, "own");
    open(&mut state, NOW, own, "o", BOTH).expect("there is no grace yet");
    state.take_over(NOW, records.to_take_over(SERVER, |host| host == b"h"));
    assert!(state.is_grace());
    assert_eq!(open(&mut state, NOW, own, "p", BOTH), Err(StateError::Grace), "its own clients wait");
    assert_eq!(nlm_lock(&mut state, b"i", false), Err(StateError::Grace));
    let (client, stranger) = (confirm(&mut state, NOW, "a"), confirm(&mut state, NOW, "s"));
    let mut reclaim = |client| {
        let ((access, deny), key) = (BOTH, &"file");
        state.open(NOW, OpenRequest { client, owner: b"o", key, access, deny, is_reclaim: true })
    };
    assert_eq!(reclaim(stranger), Err(StateError::ReclaimBad));
    reclaim(client).expect("a reclaim");
    nlm_lock(&mut state, b"h", true).expect("a reclaim");
    state.reclaim_complete(NOW, client, false).expect("RECLAIM_COMPLETE");
    assert!(state.is_grace(), "a host may still come");
    state.expire(LEASE);
    assert!(!state.is_grace());
    assert!(matches!(nlm_lock(&mut state, b"i", false), Err(StateError::Denied(_))));
}

#[test]
fn grace_ends_when_those_who_were_taken_over_are_back() {
    let mut state = server();
    connect(&mut state, NOW, "both");
    state.take_over(NOW, left(&["a", "both"]).to_take_over(SERVER, no_host));
    assert!(state.is_grace());
    connect(&mut state, NOW, "a");
    assert!(!state.is_grace(), "a client that was here already does not complete again");
}

#[test]
fn who_waits_is_served_when_grace_ends_and_not_before() {
    let mut state = server();
    let holder = nlm_host(&mut state, b"holder").expect("a host");
    nlm_lock(&mut state, b"holder", false).expect("LOCK");
    let waiter = NlmOwner { host: nlm_host(&mut state, b"waiter").expect("a host"), svid: 1, oh: [1].into() };
    let (key, kind, range) = (&"locked", LockKind::Write, range(0, 9));
    let request = NlmLockRequest { owner: &waiter, key, kind, range, waits: true, is_reclaim: false };
    assert!(matches!(state.nlm(NOW).lock(request), Err(StateError::Denied(_))));
    state.take_over(NOW, left(&["a"]).to_take_over(SERVER, no_host));
    state.release_host(NOW, holder);
    let is_granted = |state: &mut State| {
        state.take_effects().list.iter().any(|effect| matches!(effect, Effect::Granted { .. }))
    };
    assert!(!is_granted(&mut state), "a client of the other server may have it");
    state.expire(LEASE);
    assert!(is_granted(&mut state));
}

#[test]
fn a_restart_in_this_grace_takes_nothing_from_anybody() {
    let mut state = server();
    connect(&mut state, NOW, "own");
    state.take_over(NOW, left(&["a"]).to_take_over(SERVER, no_host));
    let state = restart(&mut state);
    let mut may_reclaim: Vec<&[u8]> = state.records().earlier_clients().collect();
    may_reclaim.sort_unstable();
    assert_eq!(may_reclaim, [&b"a"[..], b"own"]);
}

#[test]
fn a_server_lets_go_of_an_address_that_another_one_has() {
    let mut state = server();
    let client = connect(&mut state, NOW, "a");
    open(&mut state, NOW, client, "o", BOTH).expect("OPEN");
    nlm_lock(&mut state, b"h", false).expect("LOCK");
    state.leave_server(NOW, OTHER, no_host);
    assert_eq!(state.files().count(), 2, "that was another address");
    state.leave_server(NOW, SERVER, |host| host == b"h");
    assert_eq!(state.files().count(), 0);
    assert_eq!(state.records().to_take_over(SERVER, |_| true), []);
    // One that was down meanwhile forgets them at its start.
    let mut records = left(&["a"]);
    assert_eq!(records.servers().into_iter().collect::<Vec<_>>(), [SERVER]);
    records.leave(|server| server == SERVER, |host| host == b"h");
    let start = DurableRecord::Start { epoch: records.next_epoch() - 1 };
    assert_eq!(records.compact(), [start]);
}
