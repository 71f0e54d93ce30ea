//! Locks of processes of the server's own host.

use std::time::Duration;

use howdah_state::{
    ByteRange, Effect, LockKind, LockOwner, MirrorPiece, NlmLockRequest, NlmOwner, StateError,
};

use crate::server::*;

const NOW: Duration = Duration::ZERO;

fn is_denied_by_local<T: std::fmt::Debug>(outcome: &Result<T, StateError>) -> bool {
    matches!(outcome, Err(StateError::Denied(conflict)) if conflict.owner == LockOwner::Local)
}

#[test]
fn they_are_in_the_way_and_are_not_told_to_the_kernel() {
    let mut state = server();
    let a = connect(&mut state, NOW, "a");
    let mine = open(&mut state, NOW, a, "o", BOTH).expect("OPEN").stateid;
    state.take_effects();
    state.set_local(NOW, &"file", range(0, 9), Some((range(0, 19), LockKind::Write)));
    assert_eq!(state.take_effects().list, [], "the kernel knows");
    assert_eq!(
        state.files().locks.ranges.union(&"file", range(0, 9)),
        (vec![MirrorPiece { range: range(0, 9), kind: None }], false)
    );
    assert!(is_denied_by_local(&lock(&mut state, NOW, a, mine, range(5, 14))));
    let seen = state.files().locks.ranges.within(&"file", &LockOwner::Local, ByteRange::ALL);
    assert_eq!(seen, [(range(0, 9), LockKind::Write)]);
    state.set_local(NOW, &"file", range(0, 9), None);
    let effects = state.take_effects().list;
    assert!(matches!(effects[..], [Effect::Notify { .. }]), "the waiter has its turn: {effects:?}");
    lock(&mut state, NOW, a, mine, range(5, 14)).expect("LOCK");
}

#[test]
fn a_grant_that_meets_one_waits_again() {
    let mut state = server();
    let host = nlm_host(&mut state, b"h").expect("a host");
    let owners = [1, 2].map(|svid| NlmOwner { host, svid, oh: [].into() });
    let request = |owner| {
        let (key, kind, range) = (&"file", LockKind::Write, range(0, 9));
        NlmLockRequest { owner, key, kind, range, waits: true, is_reclaim: false }
    };
    state.nlm(NOW).lock(request(&owners[0])).expect("LOCK");
    assert!(matches!(state.nlm(NOW).lock(request(&owners[1])), Err(StateError::Denied(_))));
    state.nlm(NOW).unlock(&owners[0], &"file", range(0, 9)).expect("UNLOCK");
    let granted = |state: &mut State| {
        let grants = state.take_effects().list.into_iter().filter_map(|effect| match effect {
            Effect::Granted { grant, .. } => Some(grant),
            _ => None,
        });
        grants.collect::<Vec<_>>()
    };
    let grants = granted(&mut state);
    assert_eq!(grants.len(), 1);
    // Meanwhile a local process took one of the bytes.
    state.set_local(NOW, &"file", range(3, 3), Some((range(3, 3), LockKind::Read)));
    state.refuse(NOW, &grants[0], true);
    assert_eq!((granted(&mut state).len(), state.files().locks.waits().count()), (0, 1));
    state.set_local(NOW, &"file", range(3, 3), None);
    assert_eq!(granted(&mut state).len(), 1);
}
