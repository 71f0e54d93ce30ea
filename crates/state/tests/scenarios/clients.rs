//! EXCHANGE_ID, leases and courtesy.

use std::net::IpAddr;
use std::time::Duration;

use howdah_state::{
    ClientIdentity, ClientStanding, Effect, ExchangeAnswer, SessionAnswer, StateBounds, StateError,
};

use crate::server::*;

const NOW: Duration = Duration::ZERO;

#[test]
fn exchange_id_follows_the_table() {
    let mut state = server();
    assert_eq!(exchange(&mut state, NOW, "a", 1, "p", true), Err(StateError::NoEntry), "case 7");
    let first = exchange(&mut state, NOW, "a", 1, "p", false).expect("case 1");
    let second = exchange(&mut state, NOW, "a", 1, "p", false).expect("case 4");
    assert!(first.client != second.client && !second.is_confirmed);
    assert_eq!(create(&mut state, NOW, first, "p").err(), Some(StateError::StaleClientId), "it was replaced");
    assert_eq!(
        create_from(&mut state, NOW, second, ("q", address("p"))).err(),
        Some(StateError::ClientIdInUse),
        "another principal"
    );
    let second = exchange(&mut state, NOW, "a", 1, "p", false).expect("case 4");
    create(&mut state, NOW, second, "p").expect("CREATE_SESSION");
    let same = exchange(&mut state, NOW, "a", 1, "p", false).expect("case 2");
    assert!(same.client == second.client && same.is_confirmed && same.sequence == second.sequence + 1);
    assert_eq!(exchange(&mut state, NOW, "a", 1, "p", true), Ok(same), "case 6");
    assert_eq!(exchange(&mut state, NOW, "a", 2, "p", true), Err(StateError::NotSame), "case 8");
    assert_eq!(exchange(&mut state, NOW, "a", 1, "q", true), Err(StateError::Permission), "case 9");
    assert_eq!(exchange(&mut state, NOW, "a", 1, "q", false), Err(StateError::ClientIdInUse), "case 3");
    let other = exchange(&mut state, seconds(91), "a", 1, "q", false).expect("case 3, without a lease");
    assert!(!other.is_confirmed);
}

#[test]
fn a_restarted_client_loses_its_state_when_it_is_confirmed_and_not_before() {
    let mut state = server();
    let old = connect(&mut state, NOW, "a");
    let opened = open(&mut state, NOW, old, "o", BOTH).expect("OPEN");
    let new = exchange(&mut state, NOW, "a", 2, "a", false).expect("case 5");
    assert!(!new.is_confirmed && new.client != old);
    assert_eq!(state.test_stateid(old, opened.stateid), Ok(()));
    state.take_effects();
    create(&mut state, NOW, new, "a").expect("CREATE_SESSION");
    let effects = state.take_effects();
    assert!(has_record(&effects.list) && effects.durable.0 > 0, "the old record goes first: {effects:?}");
    assert_eq!(state.test_stateid(old, opened.stateid), Err(StateError::BadStateId));
    assert_eq!(state.files().count(), 0);
}

#[test]
fn an_unconfirmed_client_lives_a_lease() {
    let mut state = server();
    let exchanged = exchange(&mut state, NOW, "a", 1, "p", false).expect("EXCHANGE_ID");
    state.expire(LEASE);
    assert_eq!(state.clients(LEASE).count(), 1);
    state.expire(LEASE + seconds(1));
    assert_eq!(state.clients(LEASE).count(), 0);
    assert_eq!(create(&mut state, LEASE, exchanged, "p").err(), Some(StateError::StaleClientId));
}

#[test]
fn a_silent_client_keeps_what_nobody_wants() {
    let mut state = server();
    let (a, b) = (connect(&mut state, NOW, "a"), connect(&mut state, NOW, "b"));
    let mine = open(&mut state, NOW, a, "o", BOTH).expect("OPEN");
    lock(&mut state, NOW, a, mine.stateid, range(0, 9)).expect("LOCK");
    let late = seconds(1000);
    state.expire(late);
    let standings: Vec<_> = state.clients(late).map(|client| client.standing).collect();
    assert_eq!(standings, [ClientStanding::Courtesy; 2]);
    assert_eq!(state.test_stateid(a, mine.stateid), Ok(()));

    let b = exchange(&mut state, late, "b", 1, "b", false).map(|same| (same.client, b));
    let Ok((b, same)) = b else { panic!("{b:?}") };
    assert_eq!(b, same);
    let theirs = open(&mut state, late, b, "o", BOTH).expect("OPEN");
    lock(&mut state, late, b, theirs.stateid, range(20, 29)).expect("elsewhere");
    assert_eq!(state.test_stateid(a, mine.stateid), Ok(()), "nobody wants it");
    state.take_effects();
    lock(&mut state, late, b, theirs.stateid, range(5, 5)).expect("a conflict");
    assert_eq!(state.test_stateid(a, mine.stateid), Err(StateError::BadStateId));
    let effects = state.take_effects();
    let Some(Effect::Persist { serial, .. }) = effects.list.first() else { panic!("{effects:?}") };
    assert!(effects.durable >= *serial, "a's record is gone before b has its lock");
}

#[test]
fn what_a_client_gets_rests_on_no_record_that_names_another() {
    let mut state = server();
    let a = connect(&mut state, NOW, "a");
    let first = state.take_effects();
    assert_eq!(first.own, first.durable, "its own");
    connect(&mut state, NOW, "b");
    let second = state.take_effects();
    assert!(second.own > first.own && second.own == second.durable);
    open(&mut state, NOW, a, "o", BOTH).expect("OPEN");
    let opened = state.take_effects();
    assert_eq!((opened.durable, opened.own), (second.durable, first.own));
}

#[test]
fn a_start_does_not_wait_for_a_client_that_has_nothing() {
    let mut state = server();
    let [a, b] = ["a", "b"].map(|name| connect(&mut state, NOW, name));
    open(&mut state, NOW, b, "o", BOTH).expect("OPEN");
    let recorded =
        |state: &State| -> Vec<Vec<u8>> { state.records().present_clients().map(<[u8]>::to_vec).collect() };
    state.expire(NOW + seconds(4));
    assert_eq!(recorded(&state), [b"a", b"b"], "it may open a file at any moment");
    state.expire(NOW + seconds(5));
    assert_eq!(recorded(&state), [b"b"]);
    let opened = open(&mut state, NOW + seconds(9), a, "o", BOTH).expect("OPEN");
    assert_eq!(recorded(&state), [b"a", b"b"]);
    let effects = state.take_effects();
    assert_eq!(effects.own, effects.durable, "its answer waits for its record");
    state.close(NOW + seconds(9), a, opened.stateid, &"file").expect("CLOSE");
    state.expire(NOW + seconds(20));
    assert_eq!(recorded(&state), [b"b"]);
    assert!(state.release_client(NOW + seconds(20), b));
    assert!(!restart(&mut state).is_grace());
}

#[test]
fn courtesy_ends_after_a_day() {
    let mut state = server();
    connect(&mut state, NOW, "a");
    let day = LEASE + seconds(24 * 3600);
    state.expire(day);
    assert_eq!(state.clients(day).count(), 1);
    state.expire(day + seconds(1));
    assert_eq!(state.clients(day).count(), 0);
    assert_eq!(state.records().present_clients().count(), 0);
}

#[test]
fn courtesy_clients_are_bounded() {
    let mut state = start(StateBounds { courtesy_clients: 2, ..StateBounds::default() });
    for (second, name) in ["a", "b", "c"].into_iter().enumerate() {
        connect(&mut state, seconds(second as u64), name);
    }
    state.expire(seconds(200));
    let left: Vec<_> = state.clients(seconds(200)).map(|client| client.owner).collect();
    assert_eq!(left, [Box::from(&b"b"[..]), Box::from(&b"c"[..])], "the longest silent went");
}

#[test]
fn clients_are_bounded() {
    let mut state = start(StateBounds { clients: 2, ..StateBounds::default() });
    for name in ["a", "b"] {
        let client = connect(&mut state, NOW, name);
        open(&mut state, NOW, client, "o", BOTH).expect("OPEN");
    }
    assert_eq!(
        exchange(&mut state, seconds(60), "c", 1, "c", false),
        Err(StateError::Delay),
        "both are in use"
    );
    exchange(&mut state, seconds(60), "b", 1, "b", false).expect("b renews its lease");
    connect(&mut state, seconds(100), "c");
    assert_eq!(names(&state), ["b", "c"], "a's lease had passed");
    connect(&mut state, seconds(100), "d");
    assert_eq!(names(&state), ["b", "d"], "c had nothing open");
}

fn names(state: &State) -> Vec<String> {
    state.clients(NOW).map(|client| String::from_utf8_lossy(&client.owner).into_owned()).collect()
}

#[test]
fn clients_of_an_address_are_bounded() {
    let mut state = start(StateBounds { clients_of_peer: 1, ..StateBounds::default() });
    exchange(&mut state, NOW, "a", 1, "p", false).expect("EXCHANGE_ID");
    assert_eq!(exchange(&mut state, NOW, "b", 1, "p", false), Err(StateError::Delay));
    exchange(&mut state, NOW, "b", 1, "q", false).expect("another address");
    exchange(&mut state, NOW, "a", 1, "p", false).expect("the same client");
}

#[test]
fn one_address_that_makes_clients_without_end_leaves_room_for_others() {
    let mut state = start(StateBounds { clients: 20, clients_of_peer: 15, ..StateBounds::default() });
    let honest = connect(&mut state, NOW, "h");
    let opened = open(&mut state, NOW, honest, "o", BOTH).expect("OPEN");
    for number in 0..1_000 {
        // Each makes a session, so that none is unconfirmed.
        let (name, who) = (format!("{number}"), ["x", "y"][number % 2]);
        let made = exchange(&mut state, NOW, &name, 1, who, false).expect("the flood crowds out itself");
        create(&mut state, NOW, made, who).expect("CREATE_SESSION");
        if number % 100 == 0 {
            let other = format!("other {number}");
            confirm(&mut state, NOW, &other);
        }
    }
    assert!(state.clients(NOW).count() <= 20);
    assert_eq!(state.test_stateid(honest, opened.stateid), Ok(()));
}

#[test]
fn a_stranger_who_knows_an_id_finds_no_client_there() {
    let mut state = server();
    let exchanged = exchange(&mut state, NOW, "a", 1, "a", false).expect("EXCHANGE_ID");
    let elsewhere = ("a", address("z"));
    assert_eq!(create_from(&mut state, NOW, exchanged, elsewhere).err(), Some(StateError::StaleClientId));
    create(&mut state, NOW, exchanged, "a").expect("CREATE_SESSION");
    state.answer_created(exchanged.client, exchanged.sequence, Some(b"the id of the session"));
    // Neither the reply that was kept, nor the next number.
    for sequence in [exchanged.sequence, exchanged.sequence + 1] {
        let asked = ExchangeAnswer { sequence, ..exchanged };
        assert_eq!(create_from(&mut state, NOW, asked, elsewhere).err(), Some(StateError::StaleClientId));
        let other = create_from(&mut state, NOW, asked, ("b", address("a"))).err();
        assert_eq!(other, Some(StateError::ClientIdInUse), "another principal");
    }
    let again = create(&mut state, NOW, exchanged, "a");
    assert!(matches!(again, Ok(SessionAnswer::Replay(_))), "its number has not moved: {again:?}");
    for who in ["z", "b"] {
        assert_eq!(destroy(&mut state, exchanged.client, who), Err(StateError::StaleClientId));
    }
    assert_eq!(destroy(&mut state, exchanged.client, "a"), Err(StateError::ClientIdBusy));
}

#[test]
fn a_client_with_several_addresses_makes_its_sessions_from_each() {
    let mut state = server();
    let exchanged = exchange(&mut state, NOW, "a", 1, "a", false).expect("EXCHANGE_ID");
    create(&mut state, NOW, exchanged, "a").expect("CREATE_SESSION");
    let principal = principal("a");
    let from = |state: &mut State, network: IpAddr| {
        let (owner, verifier, peer) = (&b"a"[..], [1; 8], network);
        let identity =
            ClientIdentity { owner, verifier, principal: &principal, peer, network, server: SERVER };
        let again = state.exchange_id(NOW, identity, false).expect("EXCHANGE_ID");
        assert_eq!(again.client, exchanged.client);
        again
    };
    let again = from(&mut state, address("n"));
    let stranger = create_from(&mut state, NOW, again, ("a", address("o"))).err();
    assert_eq!(stranger, Some(StateError::StaleClientId));
    create_from(&mut state, NOW, again, ("a", address("n"))).expect("CREATE_SESSION");
    let again = from(&mut state, address("n"));
    create(&mut state, NOW, again, "a").expect("the first address is still its");
    // The last eight are remembered.
    for last in 1..=8 {
        from(&mut state, IpAddr::from([198, 51, 100, last]));
    }
    let again = from(&mut state, IpAddr::from([198, 51, 100, 1]));
    assert_eq!(create(&mut state, NOW, again, "a").err(), Some(StateError::StaleClientId));
}

#[test]
fn a_stranger_under_the_same_name_does_not_keep_a_client_from_its_session() {
    let mut state = server();
    let mine = exchange(&mut state, NOW, "a", 1, "a", false).expect("EXCHANGE_ID");
    let theirs = exchange(&mut state, NOW, "a", 7, "z", false).expect("EXCHANGE_ID");
    assert_ne!(mine.client, theirs.client);
    create(&mut state, NOW, mine, "a").expect("the stranger's did not replace it");
    assert_eq!(create(&mut state, NOW, theirs, "z").err(), Some(StateError::ClientIdInUse));
}

#[test]
fn ids_of_clients_do_not_follow_each_other() {
    let mut state = server();
    let mut number =
        |name: &str| exchange(&mut state, NOW, name, 1, name, false).expect("EXCHANGE_ID").client.number();
    let numbers: Vec<u32> = ["a", "b", "c", "d"].into_iter().map(&mut number).collect();
    let apart = |pair: &[u32]| pair[0].abs_diff(pair[1]);
    assert!(numbers.windows(2).all(|pair| apart(pair) > 16), "{numbers:?}");
    let apart: Vec<u32> = numbers.windows(2).map(apart).collect();
    assert!(apart[0] != apart[1] && apart[1] != apart[2], "{numbers:?}");
}

#[test]
fn a_client_id_is_busy_with_sessions_and_with_opens() {
    let mut state = server();
    let exchanged = exchange(&mut state, NOW, "a", 1, "a", false).expect("EXCHANGE_ID");
    let Ok(SessionAnswer::Created(session)) = create(&mut state, NOW, exchanged, "a") else {
        panic!("a session")
    };
    let a = exchanged.client;
    state.reclaim_complete(NOW, a, false).expect("RECLAIM_COMPLETE");
    let opened = open(&mut state, NOW, a, "o", BOTH).expect("OPEN");
    assert_eq!(destroy(&mut state, a, "a"), Err(StateError::ClientIdBusy));
    state.destroy_session(session.id()).expect("DESTROY_SESSION");
    assert_eq!(state.destroy_session(session.id()), Err(StateError::BadSession));
    assert_eq!(destroy(&mut state, a, "a"), Err(StateError::ClientIdBusy));
    state.close(NOW, a, opened.stateid, &"file").expect("CLOSE");
    assert_eq!(destroy(&mut state, a, "a"), Ok(()));
    assert_eq!(destroy(&mut state, a, "a"), Err(StateError::StaleClientId));
}
