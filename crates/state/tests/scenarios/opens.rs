//! OPEN, OPEN_DOWNGRADE, CLOSE, and I/O by stateid.

use std::sync::atomic::Ordering;
use std::time::Duration;

use howdah_state::{Effect, IoKind, IoPermit, ShareAccess, ShareDeny, StateBounds, StateError, StateId};

use crate::server::*;

const NOW: Duration = Duration::ZERO;

#[test]
fn an_owner_has_one_open_of_a_file_and_more_of_it_with_each_open() {
    let mut state = server();
    let a = connect(&mut state, NOW, "a");
    let first = open(&mut state, NOW, a, "o", (ShareAccess::READ, ShareDeny::NONE)).expect("OPEN");
    let io = |state: &mut State, stateid, io| state.check_io(NOW, a, stateid, &"file", io);
    assert_eq!(io(&mut state, first.stateid, IoKind::Write), Err(StateError::OpenMode));
    let second = open(&mut state, NOW, a, "o", (ShareAccess::WRITE, ShareDeny::NONE)).expect("OPEN");
    assert!(first.is_new && !second.is_new && second.open == first.open && second.stateid.seqid == 2);
    assert_eq!(io(&mut state, second.stateid, IoKind::Write), Ok(IoPermit::Open(first.open)));
    assert_eq!(io(&mut state, first.stateid, IoKind::Write), Err(StateError::OldStateId));
    assert_eq!(
        io(&mut state, StateId { seqid: 3, ..first.stateid }, IoKind::Write),
        Err(StateError::BadStateId)
    );
    let current = StateId { seqid: 0, ..first.stateid };
    assert_eq!(io(&mut state, current, IoKind::Read), Ok(IoPermit::Open(first.open)));
    let less =
        state.downgrade(a, current, &"file", ShareAccess::READ, ShareDeny::NONE).expect("OPEN_DOWNGRADE");
    assert_eq!(less.seqid, 3);
    let more = state.downgrade(a, less, &"file", ShareAccess::BOTH, ShareDeny::NONE);
    assert_eq!(more, Err(StateError::Invalid));
    assert_eq!(state.close(NOW, a, less, &"other"), Err(StateError::BadStateId));
    state.take_effects();
    assert_eq!(state.close(NOW, a, less, &"file"), Ok(()));
    assert_eq!(state.take_effects().list, [Effect::Closed { open: first.open, key: "file" }]);
    assert_eq!(state.close(NOW, a, less, &"file"), Err(StateError::BadStateId));
}

#[test]
fn what_stateids_allow_is_seen_without_the_state_and_ends_with_them() {
    let mut state = server();
    let (a, b) = (connect(&mut state, NOW, "a"), connect(&mut state, NOW, "b"));
    let rights = state.rights();
    let reads = |client, stateid| rights.permit(client, stateid, &"file", IoKind::Read);
    open(&mut state, NOW, a, "o", (ShareAccess::READ, ShareDeny::NONE)).expect("OPEN");
    let mine = open(&mut state, NOW, a, "o", BOTH).expect("OPEN");
    let locked = lock(&mut state, NOW, a, mine.stateid, range(0, 0)).expect("LOCK").stateid;
    for stateid in [mine.stateid, locked, StateId { seqid: 0, ..locked }] {
        assert_eq!(reads(a, stateid), Some(IoPermit::Open(mine.open)));
        assert_eq!(reads(b, stateid), None, "another client's");
        assert_eq!(rights.permit(a, stateid, &"other", IoKind::Read), None, "another file's");
    }
    assert_eq!(reads(a, StateId { seqid: 2, ..locked }), None, "yet to come");
    // Locks allow what their open does now.
    let writes = || rights.permit(a, locked, &"file", IoKind::Write);
    state.downgrade(a, mine.stateid, &"file", ShareAccess::READ, ShareDeny::NONE).expect("OPEN_DOWNGRADE");
    assert_eq!((reads(a, locked), writes()), (Some(IoPermit::Open(mine.open)), None));
    let mine = open(&mut state, NOW, a, "o", BOTH).expect("OPEN");
    assert_eq!(writes(), Some(IoPermit::Open(mine.open)));
    open(&mut state, NOW, b, "o", BOTH).expect("OPEN");
    assert_eq!(rights.count(), 3);
    state.close(NOW, a, mine.stateid, &"file").expect("CLOSE");
    assert_eq!((reads(a, mine.stateid), reads(a, locked), rights.count()), (None, None, 1));
    let kept = open(&mut state, NOW, a, "o", BOTH).expect("OPEN");
    assert!(reads(a, kept.stateid).is_some());
    state.release_client(NOW, a);
    state.release_client(NOW, b);
    assert_eq!((reads(a, kept.stateid), rights.count()), (None, 0));
}

#[test]
fn deny_modes_hold_against_other_owners_and_against_io_without_an_open() {
    let mut state = server();
    let (a, b) = (connect(&mut state, NOW, "a"), connect(&mut state, NOW, "b"));
    let restrictions = state.files().shares.restrictions();
    let mine = open(&mut state, NOW, a, "o", (ShareAccess::READ, ShareDeny::WRITE)).expect("OPEN");
    assert_eq!(restrictions.load(Ordering::Relaxed), 1);
    for (client, owner) in [(a, "p"), (b, "o")] {
        assert_eq!(open(&mut state, NOW, client, owner, BOTH), Err(StateError::ShareDenied));
    }
    let denied = open(&mut state, NOW, b, "o", (ShareAccess::READ, ShareDeny::READ));
    assert_eq!(denied, Err(StateError::ShareDenied), "a reads");
    assert_eq!(state.check_anonymous(NOW, &"file", IoKind::Write), Err(StateError::Locked));
    assert_eq!(state.check_anonymous(NOW, &"file", IoKind::Read), Ok(()));
    let special = |state: &mut State, stateid, io| state.check_io(NOW, b, stateid, &"file", io);
    assert_eq!(special(&mut state, StateId::ANONYMOUS, IoKind::Write), Err(StateError::Locked));
    assert_eq!(special(&mut state, StateId::READ_BYPASS, IoKind::Read), Ok(IoPermit::Special));
    assert_eq!(special(&mut state, StateId::READ_BYPASS, IoKind::Write), Err(StateError::Locked));
    for wrong in [StateId::INVALID, StateId::CURRENT, mine.stateid] {
        assert_eq!(special(&mut state, wrong, IoKind::Read), Err(StateError::BadStateId));
    }
    state.close(NOW, a, mine.stateid, &"file").expect("CLOSE");
    assert_eq!(restrictions.load(Ordering::Relaxed), 0);
    open(&mut state, NOW, b, "o", BOTH).expect("OPEN");
}

#[test]
fn the_deny_mode_of_a_silent_client_makes_way() {
    let mut state = server();
    let a = connect(&mut state, NOW, "a");
    open(&mut state, NOW, a, "o", (ShareAccess::READ, ShareDeny::BOTH)).expect("OPEN");
    assert_eq!(state.check_anonymous(LEASE, &"file", IoKind::Read), Err(StateError::Locked));
    assert_eq!(state.check_anonymous(LEASE + seconds(1), &"file", IoKind::Read), Ok(()));
    assert_eq!(state.clients(LEASE).count(), 0);
}

#[test]
fn states_of_a_client_are_bounded() {
    let mut state = start(StateBounds { states_of_client: 2, ..StateBounds::default() });
    let a = connect(&mut state, NOW, "a");
    let first = open(&mut state, NOW, a, "1", BOTH).expect("OPEN");
    open(&mut state, NOW, a, "2", BOTH).expect("OPEN");
    assert_eq!(open(&mut state, NOW, a, "3", BOTH), Err(StateError::NoSpace));
    assert_eq!(lock(&mut state, NOW, a, first.stateid, range(0, 0)), Err(StateError::NoSpace));
    open(&mut state, NOW, a, "2", BOTH).expect("it has it");
    let b = connect(&mut state, NOW, "b");
    open(&mut state, NOW, b, "1", BOTH).expect("others are unharmed");
}
