//! Locks that are waited for, and what clients are to be called for.

use std::sync::Arc;

use howdah_state::HostId;
use howdah_vfs::Handle;
use howdah_wire::nlm::{PROGRAM, Status, VERSION_4, lock};
use howdah_wire::xdr::{Decode, Decoder};

use super::client::{COOKIE, Client, Fixture};
use crate::calling::call;
use crate::limits::{ANSWERS_OF_CLIENT_MAX, CALLBACKS_OF_CLIENT_MAX};
use crate::nlm::callbacks::{Answer, Callbacks};
use crate::states::{FileKey, GrantTicket, LockNews};

fn callbacks(fixture: &Fixture) -> Arc<Callbacks> {
    fixture.service.lock_calls.as_ref().expect("locks").granting.callbacks()
}

fn granted(callbacks: &Callbacks) -> Option<GrantTicket> {
    callbacks.grants().pop().map(|call| call.ticket)
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
    let answer = callbacks(&fixture).answers().pop().expect("an answer");
    let Answer { from, client: to, procedure, arguments, .. } = answer;
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
    let ticket = GrantTicket {
        file: FileKey { export: 1, node: Handle::new(b"file").expect("short") },
        host: HostId(99),
        number: 0,
    };
    let client = "192.0.2.10".parse().expect("an address");
    for number in 0..CALLBACKS_OF_CLIENT_MAX as u64 {
        callbacks.tell(GrantTicket { number, ..ticket }, client);
    }
    one.unlock(&fixture.file, 1, (0, 10));
    let granted_calls =
        std::iter::from_fn(|| granted(&callbacks)).inspect(|call| assert_eq!(call.host, ticket.host));
    assert_eq!(granted_calls.count(), CALLBACKS_OF_CLIENT_MAX);
    assert_eq!(other.wait(&fixture.file, 1, (5, 10)), Status::Granted, "asked again");
}

fn lock_message(client: &Client, file: &[u8]) -> Vec<u8> {
    let lock = client.bytes(file, 1, (0, 10));
    let arguments =
        lock::Arguments { cookie: COOKIE, block: false, exclusive: true, lock, reclaim: false, state: 0 };
    let what = (PROGRAM, VERSION_4, lock::MESSAGE);
    call(&client.service, &client.peer, what, &arguments).expect("an answer").1
}

#[test]
fn a_client_that_no_export_admits_is_not_called() {
    let fixture = Fixture::new();
    // Its address may be forged: the call would go to somebody who did not ask.
    let stranger = fixture.client("one", "198.51.100.7");
    assert!(lock_message(&stranger, &fixture.file).is_empty());
    assert_eq!(callbacks(&fixture).answers().pop(), None);
}

#[test]
fn answers_to_one_client_keep_no_other_waiting() {
    let fixture = Fixture::new();
    let [one, other] = waiting(&fixture);
    let callbacks = callbacks(&fixture);
    for _ in 0..2 * ANSWERS_OF_CLIENT_MAX {
        lock_message(&one, &fixture.file);
    }
    lock_message(&other, &fixture.file);
    one.unlock(&fixture.file, 1, (0, 10));
    assert!(granted(&callbacks).is_some(), "other threads call for locks");
    // While the first client does not take its answer, the other gets its own.
    let first = callbacks.answers().take().expect("an answer");
    assert_eq!(first.client.to_string(), "192.0.2.9");
    let second = callbacks.answers().take().expect("an answer");
    assert_eq!(second.client.to_string(), "192.0.2.10");
    drop((first, second));
    let left = std::iter::from_fn(|| callbacks.answers().pop()).count();
    assert_eq!(left, ANSWERS_OF_CLIENT_MAX - 1, "the others were dropped");
}
