//! Locks that are waited for, and what clients are to be called for.

use std::sync::Arc;

use howdah_wire::nlm::{PROGRAM, Status, VERSION_4, lock};
use howdah_wire::xdr::{Decode, Decoder};

use super::client::{COOKIE, Client, Fixture};
use crate::calling::call;
use crate::limits::CALLBACKS_MAX;
use crate::nlm::callbacks::{Answer, Callback, Callbacks};
use crate::states::GrantTicket;

fn callbacks(fixture: &Fixture) -> Arc<Callbacks> {
    fixture.service.lock_calls.as_ref().expect("locks").granting.callbacks()
}

fn granted(callbacks: &Callbacks) -> Option<GrantTicket> {
    match callbacks.queue().pop()? {
        Callback::Granted(ticket, _) => Some(ticket),
        Callback::Answer(answer) => panic!("{answer:?}"),
    }
}

/// A client that holds a lock, and one that waits for it.
fn waiting(fixture: &Fixture) -> [Client; 2] {
    let clients = [fixture.client("one", "192.0.2.9"), fixture.client("other", "192.0.2.10")];
    assert_eq!(clients[0].lock(&fixture.file, 1, (0, 10)), Status::Granted);
    assert_eq!(clients[1].wait(&fixture.file, 1, (5, 10)), Status::Blocked);
    assert_eq!(clients[1].wait(&fixture.file, 1, (5, 10)), Status::Blocked, "asked again");
    clients
}

#[test]
fn who_waits_gets_the_lock_and_is_to_be_told() {
    let fixture = Fixture::new();
    let [one, other] = waiting(&fixture);
    let callbacks = callbacks(&fixture);
    assert_eq!(granted(&callbacks), None);
    assert_eq!(one.unlock(&fixture.file, 1, (0, 10)), Status::Granted);
    let grant = callbacks.pending().get(granted(&callbacks).expect("a call")).expect("a lock");
    assert_eq!((grant.owner.svid, grant.grant.range.first, grant.grant.range.last), (1, 5, 14));
    assert_eq!(granted(&callbacks), None, "one call");
    assert_eq!(one.lock(&fixture.file, 1, (0, 10)), Status::Denied);
    assert_eq!(other.unlock(&fixture.file, 1, (5, 10)), Status::Granted);
    assert_eq!(one.lock(&fixture.file, 1, (0, 10)), Status::Granted);
}

#[test]
fn an_answer_that_says_so_makes_the_call_needless() {
    let fixture = Fixture::new();
    let [one, other] = waiting(&fixture);
    let callbacks = callbacks(&fixture);
    one.unlock(&fixture.file, 1, (0, 10));
    let ticket = granted(&callbacks).expect("a call");
    assert_eq!(other.wait(&fixture.file, 1, (5, 10)), Status::Granted, "asked again");
    assert_eq!(callbacks.pending().get(ticket), None);
}

#[test]
fn who_cancels_waits_no_longer_and_has_no_lock() {
    let fixture = Fixture::new();
    let [one, other] = waiting(&fixture);
    assert_eq!(other.cancel(&fixture.file, 1, (5, 10)), Status::Granted);
    assert_eq!(other.cancel(&fixture.file, 1, (5, 10)), Status::Denied, "waits for nothing");
    one.unlock(&fixture.file, 1, (0, 10));
    let callbacks = callbacks(&fixture);
    assert_eq!(granted(&callbacks), None);
    assert_eq!(one.lock(&fixture.file, 1, (0, 10)), Status::Granted);
    // Cancelled when it has the lock already, and does not know.
    assert_eq!(other.wait(&fixture.file, 1, (5, 10)), Status::Blocked);
    one.unlock(&fixture.file, 1, (0, 10));
    assert_eq!(other.cancel(&fixture.file, 1, (5, 10)), Status::Granted);
    assert_eq!(callbacks.pending().get(granted(&callbacks).expect("a call")), None);
    assert_eq!(one.lock(&fixture.file, 1, (0, 10)), Status::Granted);
}

#[test]
fn a_host_that_is_gone_is_not_called() {
    let fixture = Fixture::new();
    let [one, other] = waiting(&fixture);
    one.unlock(&fixture.file, 1, (0, 10));
    other.free_all();
    let callbacks = callbacks(&fixture);
    assert_eq!(callbacks.pending().get(granted(&callbacks).expect("a call")), None);
    assert_eq!(one.lock(&fixture.file, 1, (0, 10)), Status::Granted);
}

#[test]
fn who_asks_in_halves_is_answered_by_a_call() {
    let fixture = Fixture::new();
    let client = fixture.client("one", "192.0.2.9");
    let lock = client.bytes(&fixture.file, 1, (0, 10));
    let arguments =
        lock::Arguments { cookie: COOKIE, block: false, exclusive: true, lock, reclaim: false, state: 0 };
    let what = (PROGRAM, VERSION_4, lock::MESSAGE);
    let (_, result) = call(&client.service, &client.peer, what, &arguments).expect("an answer");
    assert!(result.is_empty());
    let Some(Callback::Answer(answer)) = callbacks(&fixture).queue().pop() else { panic!("no answer") };
    let Answer { from, client: to, procedure, arguments, .. } = *answer;
    assert_eq!((from.to_string(), to.to_string()), ("192.0.2.1".into(), "192.0.2.9".into()));
    assert_eq!(procedure, lock::RESULT);
    let reply = lock::Reply::decode(&mut Decoder::new(&arguments)).expect("a reply");
    assert_eq!(reply, lock::Reply { cookie: COOKIE, status: Status::Granted });
}

#[test]
fn calls_past_the_last_are_not_made() {
    let fixture = Fixture::new();
    let [one, other] = waiting(&fixture);
    let callbacks = callbacks(&fixture);
    for _ in 0..CALLBACKS_MAX {
        callbacks.answer(&one.peer, lock::RESULT, Vec::new());
    }
    one.unlock(&fixture.file, 1, (0, 10));
    let answers = std::iter::from_fn(|| callbacks.queue().pop());
    let mut answers = answers.inspect(|call| assert!(matches!(call, Callback::Answer(_))));
    assert_eq!(answers.by_ref().count(), CALLBACKS_MAX);
    assert_eq!(other.wait(&fixture.file, 1, (5, 10)), Status::Granted, "asked again");
}
