//! Read delegations: who gets one, who has it asked for back, and what becomes of one that does not come.

use std::time::Duration;

use howdah_state::{
    ClientId, Effect, IoKind, IoPermit, LockKind, NlmLockRequest, NlmOwner, SessionAnswer, ShareAccess,
    ShareDeny, StateBounds, StateError, StateId,
};

use crate::server::*;

const NOW: Duration = Duration::ZERO;
const SEQ4_STATUS_RECALLABLE_STATE_REVOKED: u32 = 0x40;
const READ: (ShareAccess, ShareDeny) = (ShareAccess::READ, ShareDeny::NONE);

/// A client that has a delegation of "file".
fn delegated(state: &mut State, name: &'static str) -> (ClientId, StateId) {
    let client = connect(state, NOW, name);
    open(state, NOW, client, "o", READ).expect("OPEN");
    (client, state.delegate(NOW, client, &"file").expect("a delegation"))
}

fn recalls(state: &mut State) -> Vec<ClientId> {
    let effects = state.take_effects().list.into_iter();
    effects
        .filter_map(|effect| if let Effect::Recall { client, .. } = effect { Some(client) } else { None })
        .collect()
}

#[test]
fn readers_share_a_file_until_somebody_writes() {
    let mut state = server();
    let ((a, first), (b, second)) = (delegated(&mut state, "a"), delegated(&mut state, "b"));
    assert_eq!(state.delegate(NOW, a, &"file"), None, "it has one");
    assert_eq!(state.check_io(NOW, a, first, &"file", IoKind::Read), Ok(IoPermit::Special));
    assert_eq!(state.check_io(NOW, a, first, &"file", IoKind::Write), Err(StateError::OpenMode));
    assert_eq!(state.check_io(NOW, a, second, &"file", IoKind::Read), Err(StateError::BadStateId));
    // A client does not stand in its own way.
    state.take_effects();
    assert_eq!(open(&mut state, NOW, a, "o", BOTH), Err(StateError::Delay));
    assert_eq!(recalls(&mut state), [b]);
    assert_eq!(open(&mut state, NOW, a, "o", BOTH), Err(StateError::Delay));
    assert_eq!(recalls(&mut state), [], "once");
    assert_eq!(
        state.check_delegation(b, second, &"file"),
        Ok(()),
        "it may open by it while it gives it back"
    );
    assert_eq!(state.return_delegation(b, second, &"file"), Ok(()));
    assert_eq!(state.return_delegation(b, second, &"file"), Err(StateError::BadStateId));
    open(&mut state, NOW, a, "o", BOTH).expect("OPEN");
    assert_eq!(state.files().delegations.count(), 1);
    // Now it writes.
    assert_eq!(state.delegate(seconds(80), b, &"file"), None);
}

#[test]
fn whoever_changes_a_file_waits_for_its_delegations() {
    let mut state = server();
    let (a, mine) = delegated(&mut state, "a");
    let watch = state.files().delegations.watch();
    let change = watch.begin(&"file");
    assert!(change.may_be_delegated());
    assert_eq!(state.recall(NOW, &"file", Some(a)), Ok(()), "its own");
    assert_eq!(state.recall(NOW, &"file", None), Err(StateError::Delay));
    assert_eq!(recalls(&mut state), [a]);
    let b = connect(&mut state, NOW, "b");
    open(&mut state, NOW, b, "o", READ).expect("others may read");
    assert_eq!(state.delegate(NOW, b, &"file"), None, "somebody waits to change it");
    state.return_delegation(a, mine, &"file").expect("DELEGRETURN");
    assert_eq!(state.recall(NOW, &"file", None), Ok(()));
    let later = seconds(60);
    assert_eq!(state.delegate(later, b, &"file"), None, "it is being changed");
    drop(change);
    assert!(state.delegate(later, b, &"file").is_some());
}

#[test]
fn a_file_rests_after_a_recall() {
    let mut state = server();
    let (a, mine) = delegated(&mut state, "a");
    assert_eq!(state.recall(NOW, &"file", None), Err(StateError::Delay));
    state.return_delegation(a, mine, &"file").expect("DELEGRETURN");
    assert_eq!(state.delegate(seconds(29), a, &"file"), None);
    assert!(state.delegate(seconds(30), a, &"file").is_some());
}

#[test]
fn what_does_not_come_back_is_revoked() {
    let mut state = server();
    let exchanged = exchange(&mut state, NOW, "a", 1, "a", false).expect("EXCHANGE_ID");
    let Ok(SessionAnswer::Created(session)) = create(&mut state, NOW, exchanged, "a") else {
        panic!("CREATE_SESSION")
    };
    let a = exchanged.client;
    state.reclaim_complete(NOW, a, false).expect("RECLAIM_COMPLETE");
    open(&mut state, NOW, a, "o", READ).expect("OPEN");
    let mine = state.delegate(NOW, a, &"file").expect("a delegation");
    assert_eq!(state.recall(NOW, &"file", None), Err(StateError::Delay));
    state.expire(LEASE - seconds(1));
    assert_eq!((state.check_delegation(a, mine, &"file"), session.flags()), (Ok(()), 0));
    state.take_effects();
    state.expire(LEASE);
    assert_eq!(state.take_effects().list, [Effect::Revoked { client: a, key: "file" }]);
    assert_eq!(state.recall(LEASE, &"file", None), Ok(()));
    let revoked = Err(StateError::DelegationRevoked);
    assert_eq!(state.check_io(LEASE, a, mine, &"file", IoKind::Read).map(|_| ()), revoked);
    assert_eq!(state.test_stateid(a, mine), revoked);
    assert_eq!(state.return_delegation(a, mine, &"file"), revoked);
    assert_eq!(session.flags(), SEQ4_STATUS_RECALLABLE_STATE_REVOKED);
    assert_eq!(state.free_stateid(a, mine), Ok(()));
    assert_eq!((session.flags(), state.test_stateid(a, mine)), (0, Err(StateError::BadStateId)));
}

#[test]
fn a_silent_client_is_not_waited_for() {
    let mut state = server();
    let (a, _) = delegated(&mut state, "a");
    let later = LEASE + seconds(1);
    assert_eq!(state.recall(later, &"file", None), Ok(()));
    assert_eq!(
        (state.files().delegations.count(), state.clients(later).any(|client| client.client == a)),
        (0, false)
    );
}

#[test]
fn locks_of_hosts_wait_for_those_who_may_have_locked_without_a_word() {
    let mut state = server();
    let (a, mine) = delegated(&mut state, "a");
    let host = nlm_host(&mut state, b"host").expect("a number");
    let owner = NlmOwner { host, svid: 1, oh: [1].into() };
    let lock = |state: &mut State, kind| {
        let (key, range) = (&"file", range(0, 9));
        let request = NlmLockRequest { owner: &owner, key, kind, range, waits: false, is_reclaim: false };
        state.nlm(NOW).lock(request).map(|_| ())
    };
    assert_eq!(lock(&mut state, LockKind::Read), Ok(()));
    assert_eq!(lock(&mut state, LockKind::Write), Err(StateError::Delay));
    state.return_delegation(a, mine, &"file").expect("DELEGRETURN");
    assert_eq!(lock(&mut state, LockKind::Write), Ok(()));
    assert_eq!(state.delegate(seconds(80), a, &"file"), None, "it is locked for writing");
}

#[test]
fn delegations_are_bounded() {
    let mut state = start(StateBounds { delegations: 1, ..StateBounds::default() });
    let (a, mine) = delegated(&mut state, "a");
    let b = connect(&mut state, NOW, "b");
    open(&mut state, NOW, b, "o", READ).expect("OPEN");
    assert_eq!(state.delegate(NOW, b, &"file"), None);
    state.return_delegation(a, mine, &"file").expect("DELEGRETURN");
    assert!(state.delegate(NOW, b, &"file").is_some());
}

#[test]
fn none_is_given_while_clients_reclaim() {
    let mut state = server();
    delegated(&mut state, "a");
    let mut state = restart(&mut state);
    let a = confirm(&mut state, NOW, "a");
    assert!(state.is_grace());
    assert_eq!(state.delegate(NOW, a, &"file"), None);
    assert_eq!(state.reclaim_complete(NOW, a, false), Ok(()));
    open(&mut state, NOW, a, "o", READ).expect("OPEN");
    assert!(state.delegate(NOW, a, &"file").is_some());
}

#[test]
fn a_client_that_opened_nothing_has_one_of_a_directory() {
    let mut state = server();
    let (a, b) = (connect(&mut state, NOW, "a"), connect(&mut state, NOW, "b"));
    let given = state.delegate(NOW, a, &"directory").expect("a delegation");
    state.take_effects();
    assert_eq!(state.recall(NOW, &"directory", Some(a)), Ok(()), "it changes the directory itself");
    assert_eq!(state.recall(NOW, &"directory", Some(b)), Err(StateError::Delay));
    assert_eq!(recalls(&mut state), [a]);
    assert_eq!(state.return_delegation(a, given, &"directory"), Ok(()));
    assert_eq!(state.recall(NOW, &"directory", Some(b)), Ok(()));
}

/// A client that has a delegation of "directory", which covers these files.
fn covering(state: &mut State, name: &'static str, files: &[&'static str]) -> (ClientId, StateId) {
    let client = connect(state, NOW, name);
    let given = state.delegate(NOW, client, &"directory").expect("a delegation");
    assert!(state.delegations_mut().open_children(client, &"directory"));
    assert!(state.delegations_mut().add_children(&"directory", files));
    (client, given)
}

#[test]
fn a_change_of_a_file_recalls_the_directory_that_covers_it() {
    let mut state = server();
    let (a, first) = covering(&mut state, "a", &["one", "two"]);
    let b = connect(&mut state, NOW, "b");
    state.delegate(NOW, b, &"directory").expect("a delegation of names alone");
    let watch = state.files().delegations.watch();
    assert!(watch.begin(&"two").may_be_delegated() && state.files().delegations.is_delegated(&"two"));
    assert!(!state.files().delegations.is_delegated(&"three"));
    state.take_effects();
    assert_eq!(state.recall(NOW, &"two", Some(a)), Ok(()), "its own change");
    assert_eq!(state.recall(NOW, &"three", None), Ok(()));
    assert_eq!(recalls(&mut state), []);
    assert_eq!(state.recall(NOW, &"two", Some(b)), Err(StateError::Delay));
    assert_eq!(recalls(&mut state), [a], "and not of who has names alone");
    assert_eq!(state.recall(NOW, &"one", Some(b)), Err(StateError::Delay));
    assert_eq!(recalls(&mut state), [], "once");
    assert!(!state.delegations_mut().open_children(a, &"directory"), "it is asked for back");
    state.return_delegation(a, first, &"directory").expect("DELEGRETURN");
    assert_eq!(state.recall(NOW, &"two", Some(b)), Ok(()));
    assert!(!watch.begin(&"two").may_be_delegated());
    assert_eq!(state.recall(NOW, &"directory", Some(a)), Err(StateError::Delay));
    assert_eq!(recalls(&mut state), [b]);
}

#[test]
fn files_are_forgotten_when_nobody_is_told_of_them() {
    let mut state = server();
    let (a, _) = covering(&mut state, "a", &["one"]);
    let (b, _) = covering(&mut state, "b", &["one", "two"]);
    state.delegations_mut().end_children(a, &"directory");
    assert!(state.files().delegations.is_delegated(&"one"));
    state.delegations_mut().end_children(b, &"directory");
    assert!(
        !state.files().delegations.is_delegated(&"one")
            && !state.files().delegations.watch().begin(&"two").may_be_delegated()
    );
    assert_eq!(state.files().delegations.count(), 2);
    assert!(
        state.delegations_mut().add_children(&"directory", &["one"])
            && !state.files().delegations.is_delegated(&"one"),
        "nobody wants to know"
    );
}

#[test]
fn files_in_delegated_directories_are_bounded() {
    let mut state = start(StateBounds { delegated_children: 2, ..StateBounds::default() });
    let (a, given) = covering(&mut state, "a", &["one", "two"]);
    assert!(!state.delegations_mut().add_children(&"directory", &["three"]));
    state.return_delegation(a, given, &"directory").expect("DELEGRETURN");
    covering(&mut state, "b", &["three", "four"]);
}
