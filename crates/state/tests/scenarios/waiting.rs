//! Who waits for a lock, and gets it.

use std::time::Duration;

use howdah_state::{
    ClientId, Effect, LockKind, LockRequest, Locker, NlmLockRequest, NlmOwner, StateBounds, StateError,
};

use crate::server::*;

const NOW: Duration = Duration::ZERO;

fn notified(state: &mut State) -> Vec<ClientId> {
    let effects = state.take_effects();
    let client = |effect: &Effect<_>| match effect {
        Effect::Notify { client, .. } => Some(*client),
        _ => None,
    };
    effects.list.iter().filter_map(client).collect()
}

/// Three clients: the first has the lock, the others wait, in order.
fn queue() -> (State, [(howdah_state::ClientId, howdah_state::StateId); 3], howdah_state::StateId) {
    let mut state = server();
    let clients = ["a", "b", "c"].map(|name| {
        let client = connect(&mut state, NOW, name);
        (client, open(&mut state, NOW, client, "o", BOTH).expect("OPEN").stateid)
    });
    let held = lock(&mut state, NOW, clients[0].0, clients[0].1, range(0, 9)).expect("LOCK").stateid;
    for (client, open) in &clients[1..] {
        let denied = lock(&mut state, NOW, *client, *open, range(5, 5));
        assert!(matches!(denied, Err(StateError::Denied(conflict)) if conflict.is_waiting));
    }
    state.take_effects();
    (state, clients, held)
}

#[test]
fn the_first_in_line_is_told_and_nobody_comes_before_it() {
    let (mut state, [a, b, c], held) = queue();
    assert_eq!(state.files().locks.waits().count(), 2);
    state.unlock(NOW, a.0, held, &"file", range(0, 9)).expect("LOCKU");
    assert_eq!(notified(&mut state), [b.0]);
    for other in [a, c] {
        let denied = lock(&mut state, NOW, other.0, other.1, range(5, 5));
        assert!(matches!(denied, Err(StateError::Denied(_))), "{denied:?}");
    }
    lock(&mut state, NOW, b.0, b.1, range(5, 5)).expect("its turn");
    assert_eq!(notified(&mut state), []);
    state.release_client(NOW, b.0);
    assert_eq!(notified(&mut state), [c.0]);
}

#[test]
fn a_client_that_asks_without_waiting_gives_its_place_up() {
    let (mut state, [a, b, c], held) = queue();
    let (client, locker) = (b.0, Locker::New { open: b.1, owner: b"process" });
    let (key, kind, range) = (&"file", LockKind::Write, range(5, 5));
    let wish = LockRequest { client, locker, key, kind, range, waits: false, is_reclaim: false };
    let denied = state.lock(NOW, wish);
    assert!(matches!(denied, Err(StateError::Denied(conflict)) if !conflict.is_waiting));
    assert_eq!(state.files().locks.waits().count(), 1);
    state.unlock(NOW, a.0, held, &"file", crate::server::range(0, 9)).expect("LOCKU");
    assert_eq!(notified(&mut state), [c.0]);
}

#[test]
fn a_turn_ends() {
    let (mut state, [a, b, c], held) = queue();
    state.unlock(NOW, a.0, held, &"file", range(0, 9)).expect("LOCKU");
    assert_eq!(notified(&mut state), [b.0]);
    state.expire(seconds(1));
    assert_eq!(notified(&mut state), []);
    state.expire(seconds(2));
    assert_eq!(notified(&mut state), [c.0]);
    lock(&mut state, seconds(2), c.0, c.1, range(5, 5)).expect("its turn");
    assert_eq!(state.files().locks.waits().count(), 0);
}

#[test]
fn a_waiter_is_remembered_for_a_lease_and_no_courtesy_is_shown_to_whom_it_waits_for() {
    let (mut state, [_, b, _], _) = queue();
    state.expire(LEASE);
    assert_eq!((state.files().locks.waits().count(), state.clients(LEASE).count()), (2, 3));
    let again = lock(&mut state, LEASE, b.0, b.1, range(5, 5));
    assert!(matches!(again, Err(StateError::Denied(_))));
    state.expire(LEASE + seconds(1));
    assert_eq!(notified(&mut state), [b.0], "a's lease passed, and somebody waits");
    assert_eq!(state.files().locks.waits().count(), 1, "c did not ask again");
}

#[test]
fn waiters_of_a_client_are_bounded() {
    let mut state = start(StateBounds { waiters_of_client: 1, ..StateBounds::default() });
    let (a, b) = (connect(&mut state, NOW, "a"), connect(&mut state, NOW, "b"));
    let [mine, theirs] = [a, b].map(|client| open(&mut state, NOW, client, "o", BOTH).expect("OPEN").stateid);
    lock(&mut state, NOW, a, mine, range(0, 9)).expect("LOCK");
    let mut waits = |byte| match lock(&mut state, NOW, b, theirs, range(byte, byte)) {
        Err(StateError::Denied(conflict)) => conflict.is_waiting,
        other => panic!("{other:?}"),
    };
    assert_eq!([waits(1), waits(2), waits(1)], [true, false, true]);
}

#[test]
fn a_blocked_host_gets_its_lock_and_may_refuse_it() {
    let (mut state, [a, ..], held) = queue();
    let host = nlm_host(&mut state, b"h").expect("a host");
    let owner = NlmOwner { host, svid: 1, oh: [1].into() };
    let request = NlmLockRequest {
        owner: &owner,
        key: &"file",
        kind: LockKind::Write,
        range: range(0, 2),
        waits: true,
        is_reclaim: false,
    };
    let blocked = state.nlm(NOW).lock(request);
    assert!(matches!(blocked, Err(StateError::Denied(conflict)) if conflict.is_waiting));
    state.take_effects();
    state.unlock(NOW, a.0, held, &"file", range(0, 2)).expect("LOCKU");
    let effects = state.take_effects();
    let granted = effects.list.iter().find_map(|effect| match effect {
        Effect::Granted { owner, grant } => Some((owner.clone(), grant.clone())),
        _ => None,
    });
    let (granted_to, grant) = granted.expect("it is granted");
    assert!(has_record(&effects.list) && effects.durable.0 > 0, "its record comes first");
    assert_eq!(granted_to, owner);
    assert_eq!(state.files().locks.held().count(), 2);
    state.refuse(NOW, &grant, false);
    assert_eq!(state.files().locks.held().count(), 1);
}
