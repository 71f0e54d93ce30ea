//! CREATE_SESSION and the bounds of sessions.

use std::sync::Arc;
use std::time::Duration;

use howdah_state::{
    ExchangeAnswer, LiveSession, SequenceAnswer, SequenceRequest, SessionAnswer, StateBounds, StateError,
};

use crate::server::*;

const NOW: Duration = Duration::ZERO;

#[test]
fn a_retry_of_create_session_has_the_same_answer() {
    let mut state = server();
    let a = exchange(&mut state, NOW, "a", 1, "a", false).expect("EXCHANGE_ID");
    let next = ExchangeAnswer { sequence: a.sequence + 1, ..a };
    let misordered = create(&mut state, NOW, next, "a");
    assert_eq!(misordered.err(), Some(StateError::SequenceMisordered));
    create(&mut state, NOW, a, "a").expect("CREATE_SESSION");
    assert_eq!(
        create(&mut state, NOW, a, "a").err(),
        Some(StateError::Delay),
        "its answer is not encoded yet"
    );
    state.answer_created(a.client, a.sequence, Some(b"bytes"));
    let again = create(&mut state, NOW, a, "a");
    assert!(matches!(again, Ok(SessionAnswer::Replay(bytes)) if *bytes == *b"bytes"));
    assert_eq!(state.sessions().count(), 1);
}

#[test]
fn an_answer_that_could_not_be_given_leaves_no_session_and_a_retry_runs() {
    let mut state = server();
    let a = exchange(&mut state, NOW, "a", 1, "a", false).expect("EXCHANGE_ID");
    for _ in 0..3 {
        create(&mut state, NOW, a, "a").expect("CREATE_SESSION");
        state.answer_created(a.client, a.sequence, None);
        assert_eq!(state.sessions().count(), 0);
    }
    create(&mut state, NOW, a, "a").expect("CREATE_SESSION");
    state.answer_created(a.client, a.sequence, Some(b"bytes"));
    state.answer_created(a.client, a.sequence, None);
    assert_eq!(state.sessions().count(), 1, "it was answered");
}

/// What `howdah_random::mix` does, backwards.
fn unmix(number: u64) -> u64 {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let unshift = |number: u64, by: u32| {
        let mut found = number;
        for _ in 0..64 / by {
            found = number ^ (found >> by);
        }
        found
    };
    let inverse = |odd: u64| {
        // Newton's method doubles the bits that are right.
        (0..6).fold(odd, |found: u64, _| found.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(found))))
    };
    let number = unshift(number, 31).wrapping_mul(inverse(0x94d0_49bb_1331_11eb));
    let number = unshift(number, 27).wrapping_mul(inverse(0xbf58_476d_1ce4_e5b9));
    unshift(number, 30).wrapping_sub(STEP)
}

#[test]
fn who_has_a_session_does_not_find_the_ids_of_others() {
    for number in [0, 1, u64::MAX, 0x1234_5678_9abc_def0] {
        assert_eq!(unmix(howdah_random::mix(number)), number);
    }
    let mut state = server();
    let uniques = ["a", "b"].map(|name| {
        let client = exchange(&mut state, NOW, name, 1, name, false).expect("EXCHANGE_ID");
        let Ok(SessionAnswer::Created(session)) = create(&mut state, NOW, client, name) else {
            panic!("a session")
        };
        u64::from_be_bytes(*session.id().0.last_chunk().expect("16 bytes"))
    });
    let seed = unmix(uniques[0]) ^ howdah_random::mix(1);
    assert_ne!(howdah_random::mix(seed ^ howdah_random::mix(2)), uniques[1]);
}

#[test]
fn sessions_of_a_client_are_bounded() {
    let mut state = start(StateBounds { sessions_of_client: 2, ..StateBounds::default() });
    let mut a = exchange(&mut state, NOW, "a", 1, "a", false).expect("EXCHANGE_ID");
    for _ in 0..2 {
        create(&mut state, NOW, a, "a").expect("CREATE_SESSION");
        a.sequence += 1;
    }
    assert_eq!(create(&mut state, NOW, a, "a").err(), Some(StateError::NoSpace));
    assert_eq!(create(&mut state, NOW, a, "a").err(), Some(StateError::NoSpace), "and a retry");
}

#[test]
fn slots_are_bounded() {
    let mut state = start(StateBounds { slots: 5, ..StateBounds::default() });
    let a = exchange(&mut state, NOW, "a", 1, "a", false).expect("EXCHANGE_ID");
    let Ok(SessionAnswer::Created(session)) = create(&mut state, NOW, a, "a") else { panic!("a session") };
    assert_eq!(session.slots().granted(), 5);
    let request = |slot, highest_slot| SequenceRequest { sequence: 1, slot, highest_slot, digest: 0 };
    assert_eq!(session.sequence(NOW, request(5, 5)).err(), Some(StateError::BadSlot));
    assert_eq!(session.sequence(NOW, request(4, 3)).err(), Some(StateError::BadHighSlot));
    assert!(session.sequence(NOW, request(4, 4)).is_ok());
}

#[test]
fn a_lower_target_takes_effect_when_the_client_respects_it() {
    let mut state = server();
    let a = exchange(&mut state, NOW, "a", 1, "a", false).expect("EXCHANGE_ID");
    let Ok(SessionAnswer::Created(session)) = create(&mut state, NOW, a, "a") else { panic!("a session") };
    session.slots().set_target(2);
    let request = |sequence, slot, highest_slot| SequenceRequest { sequence, slot, highest_slot, digest: 0 };
    assert!(session.sequence(NOW, request(1, 5, 7)).is_ok());
    assert_eq!((session.slots().granted(), session.slots().target()), (8, 2));
    assert!(session.sequence(NOW, request(1, 0, 1)).is_ok());
    assert_eq!(session.slots().granted(), 2);
    assert_eq!(session.sequence(NOW, request(2, 5, 5)).err(), Some(StateError::BadSlot));
    session.slots().set_target(100);
    assert_eq!((session.slots().granted(), session.slots().target()), (8, 8));
    assert!(session.sequence(NOW, request(2, 5, 5)).is_ok());
}

#[test]
fn kept_replies_are_bounded() {
    let mut state = start(StateBounds { cached_bytes: 10, ..StateBounds::default() });
    let a = exchange(&mut state, NOW, "a", 1, "a", false).expect("EXCHANGE_ID");
    let Ok(SessionAnswer::Created(session)) = create(&mut state, NOW, a, "a") else { panic!("a session") };
    let run = |slot, reply: &[u8]| {
        let request = SequenceRequest { sequence: 1, slot, highest_slot: slot, digest: 0 };
        let Ok(SequenceAnswer::New(guard)) = session.sequence(NOW, request) else { panic!("a new call") };
        guard.finish(Some(reply));
        session.sequence(NOW, request).expect("a retry")
    };
    assert!(matches!(run(0, &[1; 10]), SequenceAnswer::Replay(reply) if *reply == [1; 10]));
    assert!(matches!(run(1, &[1]), SequenceAnswer::Uncached));
    let id = session.id();
    drop(session);
    state.destroy_session(id).expect("DESTROY_SESSION");
    assert_eq!(state.sessions().cached_bytes(), 0);
}

#[test]
fn kept_replies_of_a_client_are_bounded() {
    let mut state = start(StateBounds { cached_bytes_of_client: 10, ..StateBounds::default() });
    let [a, b] = ["a", "b"].map(|name| {
        let client = exchange(&mut state, NOW, name, 1, name, false).expect("EXCHANGE_ID");
        let Ok(SessionAnswer::Created(session)) = create(&mut state, NOW, client, name) else {
            panic!("a session")
        };
        session
    });
    let run = |session: &Arc<LiveSession<()>>, sequence, reply: &[u8]| {
        let request = SequenceRequest { sequence, slot: 0, highest_slot: 0, digest: 0 };
        let Ok(SequenceAnswer::New(guard)) = session.sequence(NOW, request) else { panic!("a new call") };
        guard.finish(Some(reply));
        matches!(session.sequence(NOW, request), Ok(SequenceAnswer::Replay(_)))
    };
    assert!(!run(&a, 1, &[1; 11]), "more than it may have");
    assert!(run(&a, 2, &[1; 10]));
    assert!(run(&b, 1, &[1; 10]), "others have their part");
    assert!(run(&a, 3, &[1; 10]), "what is kept no more is not counted");
}

#[test]
fn only_a_sequence_that_succeeds_renews_the_lease() {
    let mut state = server();
    let a = exchange(&mut state, NOW, "a", 1, "a", false).expect("EXCHANGE_ID");
    let Ok(SessionAnswer::Created(session)) = create(&mut state, NOW, a, "a") else { panic!("a session") };
    let request = |sequence| SequenceRequest { sequence, slot: 0, highest_slot: 0, digest: 0 };
    assert_eq!(session.sequence(seconds(50), request(7)).err(), Some(StateError::SequenceMisordered));
    let silence = |state: &State| state.clients(seconds(60)).map(|client| client.silence).next();
    assert_eq!(silence(&state), Some(seconds(60)));
    drop(session.sequence(seconds(50), request(1)));
    assert!(
        matches!(session.sequence(seconds(55), request(1)), Ok(SequenceAnswer::Uncached)),
        "a retry renews it too"
    );
    assert_eq!(silence(&state), Some(seconds(5)));
    session.change_flags(3, 0);
    session.change_flags(4, 1);
    assert_eq!(session.flags(), 6);
    state.release_client(seconds(60), a.client);
    assert_eq!(session.sequence(seconds(60), request(2)).err(), Some(StateError::BadSession));
}
