//! What NLM hosts ask.

use std::time::Duration;

use howdah_state::{
    Effect, HostId, IoKind, LockKind, NlmLockRequest, NlmOwner, ShareAccess, ShareDeny, StateBounds,
    StateError,
};

use crate::server::*;

const NOW: Duration = Duration::ZERO;

fn owner(host: HostId, svid: u32) -> NlmOwner {
    NlmOwner { host, svid, oh: [1].into() }
}

fn request(owner: &NlmOwner) -> NlmLockRequest<'_, &'static str> {
    let (key, kind, range) = (&"file", LockKind::Write, range(0, 9));
    NlmLockRequest { owner, key, kind, range, waits: false, is_reclaim: false }
}

#[test]
fn locks_of_nlm_and_of_nfs4_exclude_each_other() {
    let mut state = server();
    let host = nlm_host(&mut state, b"h").expect("a host");
    assert_eq!(nlm_host(&mut state, b"h"), Ok(host));
    let (one, two) = (owner(host, 1), owner(host, 2));
    state.nlm(NOW).lock(request(&one)).expect("LOCK");
    let effects = state.take_effects();
    assert!(has_record(&effects.list) && effects.durable.0 > 0);
    state.nlm(NOW).lock(request(&one)).expect("again");
    assert!(matches!(state.nlm(NOW).lock(request(&two)), Err(StateError::Denied(_))));
    let a = connect(&mut state, NOW, "a");
    let mine = open(&mut state, NOW, a, "o", BOTH).expect("OPEN").stateid;
    assert!(matches!(lock(&mut state, NOW, a, mine, range(9, 9)), Err(StateError::Denied(_))));
    let tested = state.nlm(NOW).test(&two, &"file", LockKind::Read, range(5, 5));
    assert!(matches!(tested, Err(StateError::Denied(_))));
    state.nlm(NOW).unlock(&two, &"file", range(0, 9)).expect("nothing is no error");
    state.nlm(NOW).unlock(&one, &"file", range(0, 9)).expect("UNLOCK");
    lock(&mut state, NOW, a, mine, range(9, 9)).expect("LOCK");
    assert!(matches!(state.nlm(NOW).lock(request(&one)), Err(StateError::Denied(_))));
}

#[test]
fn a_host_that_restarted_has_nothing_any_more() {
    let mut state = server();
    let (host, other) =
        (nlm_host(&mut state, b"h").expect("a host"), nlm_host(&mut state, b"i").expect("a host"));
    state.nlm(NOW).lock(request(&owner(host, 1))).expect("LOCK");
    let share = (ShareAccess::READ, ShareDeny::BOTH);
    state.nlm(NOW).share(&owner(host, 0), &"file", share, false).expect("SHARE");
    let denied = state.nlm(NOW).share(&owner(other, 0), &"file", share, false);
    assert_eq!(denied, Err(StateError::ShareDenied));
    assert_eq!(
        state.check_anonymous(NOW, &"file", IoKind::Read),
        Ok(()),
        "NFSv3 does not say whose I/O it is"
    );
    state.release_host(NOW, host);
    assert_eq!(state.files().count(), 0);
    let effects = state.take_effects();
    assert!(effects.list.contains(&Effect::HostEnded { host }));
    assert_eq!(state.records().present_hosts().count(), 0);
    state.nlm(NOW).share(&owner(other, 0), &"file", share, false).expect("SHARE");
    state.nlm(NOW).unshare(&owner(other, 0), &"file");
    assert_eq!(state.files().count(), 0);
}

#[test]
fn a_host_without_locks_is_forgotten_after_a_lease() {
    let mut state = server();
    let host = nlm_host(&mut state, b"h").expect("a host");
    state.nlm(NOW).lock(request(&owner(host, 1))).expect("LOCK");
    state.expire(seconds(1000));
    state.nlm(seconds(1000)).unlock(&owner(host, 1), &"file", range(0, 9)).expect("UNLOCK");
    for (second, hosts) in [(1001, 1), (1091, 1), (1092, 0)] {
        state.expire(seconds(second));
        assert_eq!(
            (state.hosts().iter().count(), state.records().present_hosts().count()),
            (hosts, hosts),
            "{second}"
        );
    }
}

#[test]
fn hosts_are_bounded() {
    let mut state = start(StateBounds { hosts: 1, ..StateBounds::default() });
    nlm_host(&mut state, b"h").expect("a host");
    assert!(state.hosts().find(b"h").is_some() && state.hosts().find(b"i").is_none());
    assert_eq!(nlm_host(&mut state, b"i"), Err(StateError::NoSpace));
}
