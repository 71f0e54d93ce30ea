//! Calls of the server: a lock that may be free, and calls that no server should make.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use howdah_client::Remote;
use howdah_client::connect::{ConnectOptions, connect};
use howdah_vfs::{Caller, Change, Create, CreateFile, FileLock, Handle, Name, NewAttributes, Result};
use howdah_wire::nfs4::callback::compound::Head;
use howdah_wire::nfs4::callback::{COMPOUND, NULL, VERSION, notify_lock, sequence};
use howdah_wire::nfs4::compound::{ReplyHead, ResultHead};
use howdah_wire::nfs4::{
    ClientId, FileHandle, Opaque, Owner, SessionId, Status, bind_conn_to_session, create_session,
};
use howdah_wire::rpc::{Accepted, CallHeader, Credentials, ReplyHeader};
use howdah_wire::xdr::{Array, Decode, Decoder, Encode, Encoder};

use crate::middleman::{Exchange, Fate, Middleman, OWN_CALL};
use crate::served::{EXPORT, Served, serve_memory};

const ME: Caller = Caller::ROOT;
const OWNER: u64 = 0x1234_5678_9abc_def0;
/// Longer than any announcement takes, and shorter than it takes to lose patience.
const PATIENCE: Duration = Duration::from_secs(60);
/// The program that clients serve.
const PROGRAM: u32 = 0x4000_0000;

fn made(client: &dyn Remote) -> Handle {
    let (root, how) = (client.root(), Create::Guarded(NewAttributes::with_mode(0o666)));
    let create = CreateFile::new(&root, Name::parse(b"file").expect("a name"), &how);
    client.create(&ME, create, &mut Change::default()).expect("made").handle
}

fn lock(client: &dyn Remote, file: &Handle, owner: u64) -> Result<Option<FileLock>> {
    let lock = FileLock { first: 0, last: 9, exclusive: true };
    client.file_locks().expect("locks").lock_range(&ME, file, owner, lock, true)
}

fn unlock(client: &dyn Remote, file: &Handle, owner: u64) {
    client.file_locks().expect("locks").unlock_range(&ME, file, owner, FileLock::ALL).expect("unlocked");
}

/// The lock owners that a client hears of.
fn heard_by(client: &dyn Remote) -> Receiver<u64> {
    let (sender, receiver) = channel();
    client.watch_locks(Arc::new(move |owner| _ = sender.send(owner)));
    receiver
}

fn between(served: &Served, options: &str) -> (Middleman, Arc<dyn Remote>) {
    let middleman = Middleman::before(served.address);
    let client = through(&middleman, options);
    (middleman, client)
}

fn through(middleman: &Middleman, options: &str) -> Arc<dyn Remote> {
    let url = format!("nfs://{}{EXPORT}?version=4&{options}", middleman.address).parse().expect("a URL");
    connect(&url, &ConnectOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// The operation behind the minor version and the number of operations.
fn first(exchange: &Exchange<'_>) -> Option<u32> {
    Some(u32::from_be_bytes(*exchange.arguments.get(12..)?.first_chunk()?))
}

#[test]
fn who_waits_for_a_lock_hears_when_it_is_free() {
    let served = serve_memory();
    for version in ["4.1", "4.2"] {
        let [a, b] = [0, 1].map(|_| served.client(&format!("version={version}")));
        let (a, b) = (&*a, &*b);
        let file = made(a);
        let heard = heard_by(b);
        assert_eq!(lock(a, &file, 1), Ok(None));
        assert!(lock(b, &file, OWNER).expect("an answer").is_some());
        unlock(a, &file, 1);
        assert_eq!(heard.recv_timeout(PATIENCE), Ok(OWNER));
        assert!(lock(a, &file, 1).expect("an answer").is_some(), "it is its turn");
        assert_eq!(lock(b, &file, OWNER), Ok(None));
        unlock(b, &file, OWNER);
        a.remove(&ME, &a.root(), Name::parse(b"file").expect("a name"), &mut Change::default())
            .expect("removed");
    }
}

#[test]
fn who_waits_hears_of_it_although_the_connection_broke() {
    let served = serve_memory();
    let a = served.client("version=4");
    let (middleman, b) = between(&served, "lanes=1");
    let (a, b) = (&*a, &*b);
    let (sender, bound) = channel();
    middleman.judge(move |exchange| {
        if first(exchange) == Some(bind_conn_to_session::OPERATION) {
            let _ = sender.send(());
        }
        Fate::Pass
    });
    let (file, heard) = (made(a), heard_by(b));
    assert_eq!(lock(a, &file, 1), Ok(None));
    assert!(lock(b, &file, OWNER).expect("an answer").is_some());
    middleman.cut();
    bound.recv_timeout(PATIENCE).expect("the next connection is bound");
    unlock(a, &file, 1);
    assert_eq!(heard.recv_timeout(PATIENCE), Ok(OWNER));
    assert_eq!(lock(b, &file, OWNER), Ok(None));
    unlock(b, &file, OWNER);
}

/// The reply to CREATE_SESSION, as if the server could not call back.
fn without_callbacks(exchange: &Exchange<'_>) -> Fate {
    let mut decoder = Decoder::new(exchange.results);
    ReplyHead::decode(&mut decoder).expect("a reply");
    ResultHead::decode(&mut decoder).expect("a result");
    let start = decoder.position();
    let Ok(success) = create_session::Success::decode(&mut decoder) else { return Fate::Pass };
    let mut bytes = exchange.results[..start].to_vec();
    create_session::Success { flags: 0, ..success }.encode(&mut Encoder::new(&mut bytes));
    Fate::Replace(bytes)
}

#[test]
fn a_server_without_callbacks_is_used_without_them() {
    let served = serve_memory();
    let middleman = Middleman::before(served.address);
    let bound = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&bound);
    middleman.judge(move |exchange| match first(exchange) {
        Some(create_session::OPERATION) => without_callbacks(exchange),
        Some(bind_conn_to_session::OPERATION) => {
            counted.fetch_add(1, Ordering::SeqCst);
            Fate::Pass
        }
        _ => Fate::Pass,
    });
    let (a, b) = (served.client("version=4"), through(&middleman, "lanes=1"));
    let (a, b) = (&*a, &*b);
    let file = made(a);
    assert_eq!(lock(a, &file, 1), Ok(None));
    assert!(lock(b, &file, OWNER).expect("an answer").is_some());
    middleman.cut();
    assert!(lock(b, &file, OWNER).expect("an answer").is_some());
    unlock(a, &file, 1);
    assert_eq!(lock(a, &file, 1), Ok(None), "no place is kept for who cannot be called");
    unlock(a, &file, 1);
    assert_eq!(lock(b, &file, OWNER), Ok(None));
    assert_eq!(bound.load(Ordering::SeqCst), 0);
    unlock(b, &file, OWNER);
}

fn xid(number: u16) -> u32 {
    let [high, low] = number.to_be_bytes();
    u32::from_be_bytes([OWN_CALL[0], OWN_CALL[1], high, low])
}

fn header(number: u16, program: u32, procedure: u32) -> Vec<u8> {
    let credentials = Credentials::None;
    Encoder::to_vec(&CallHeader { xid: xid(number), program, version: VERSION, procedure, credentials })
}

/// CB_SEQUENCE in this session, and CB_NOTIFY_LOCK for this owner.
fn notice(number: u16, session: SessionId, sequence: u32, owner: &[u8]) -> Vec<u8> {
    let mut message = header(number, PROGRAM, COMPOUND);
    let mut encoder = Encoder::new(&mut message);
    Head { tag: b"", minor_version: 2, identifier: 0, operations: 2 }.encode(&mut encoder);
    encoder.u32(sequence::OPERATION);
    let referring = Array::of(&[]);
    sequence::Arguments { session, sequence, slot: 0, highest_slot: 0, keep: false, referring }
        .encode(&mut encoder);
    encoder.u32(notify_lock::OPERATION);
    let owner = Owner { client: ClientId(1), owner: Opaque(owner) };
    notify_lock::Arguments { node: FileHandle(&[1]), owner }.encode(&mut encoder);
    message
}

fn outcome(reply: &[u8]) -> (Accepted, Option<Status>) {
    let mut decoder = Decoder::new(reply);
    let header = ReplyHeader::decode(&mut decoder).expect("a reply");
    (header.outcome.expect("accepted"), ReplyHead::decode(&mut decoder).ok().map(|head| head.status))
}

#[test]
fn calls_that_no_server_should_make_are_refused_and_break_nothing() {
    let served = serve_memory();
    let middleman = Middleman::before(served.address);
    let session = Arc::new(std::sync::Mutex::new(SessionId([0; 16])));
    let noted = Arc::clone(&session);
    middleman.judge(move |exchange| {
        if first(exchange) == Some(create_session::OPERATION) {
            let mut decoder = Decoder::new(exchange.results);
            ReplyHead::decode(&mut decoder).expect("a reply");
            ResultHead::decode(&mut decoder).expect("a result");
            let success = create_session::Success::decode(&mut decoder).expect("a session");
            *noted.lock().expect("unpoisoned") = success.session;
        }
        Fate::Pass
    });
    let client = through(&middleman, "lanes=1");
    let (client, heard) = (&*client, heard_by(&*client));
    let session = *session.lock().expect("unpoisoned");
    let owner = format!("lock:{OWNER:016x}");
    let connections = || client.channel().report().lanes[0].connections;
    let before = connections();
    // One that is right, and the same again.
    for number in [1, 2] {
        let reply = middleman.call_client(&notice(number, session, 1, owner.as_bytes()));
        assert_eq!(outcome(&reply), (Accepted::Success, Some(Status::OK)));
    }
    assert_eq!(heard.recv_timeout(PATIENCE), Ok(OWNER));
    assert_eq!(outcome(&middleman.call_client(&header(3, PROGRAM, NULL))).0, Accepted::Success);
    let other = SessionId([9; 16]);
    for (number, call, expected) in [
        (4, notice(4, other, 2, owner.as_bytes()), (Accepted::Success, Some(Status::BADSESSION))),
        (5, notice(5, session, 9, owner.as_bytes()), (Accepted::Success, Some(Status::SEQ_MISORDERED))),
        (6, header(6, PROGRAM, COMPOUND), (Accepted::GarbageArguments, None)),
        (7, header(7, 100_003, COMPOUND), (Accepted::ProgramUnavailable, None)),
        (8, [&header(8, PROGRAM, COMPOUND)[..], &[0xff; 5000]].concat(), (Accepted::GarbageArguments, None)),
    ] {
        assert_eq!(outcome(&middleman.call_client(&call)), expected, "{number}");
    }
    // What is no lock owner of this client, and what is too long to be kept.
    middleman.call_client(&notice(9, session, 2, b"somebody else"));
    middleman.inject(&[&header(10, PROGRAM, COMPOUND)[..], &[0; 1 << 20]].concat());
    for round in 0..20_000_u32 {
        middleman.inject(&notice(11, other, round, owner.as_bytes()));
    }
    client.attributes(&ME, &client.root()).expect("the server answers");
    let reply = middleman.call_client(&notice(12, session, 3, owner.as_bytes()));
    assert_eq!(outcome(&reply), (Accepted::Success, Some(Status::OK)));
    assert_eq!(heard.recv_timeout(PATIENCE), Ok(OWNER));
    assert_eq!(connections(), before, "no connection broke");
    assert!(heard.try_recv().is_err(), "each call that was right was heard once");
}
