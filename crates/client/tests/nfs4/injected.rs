//! What servers may answer at any time: "not now", a session that is gone, a reply that is not kept.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use howdah_client::Remote;
use howdah_client::connect::{ConnectOptions, connect};
use howdah_vfs::{
    AddLink, Caller, Change, CopyRange, Create, CreateFile, Data, FsError, Handle, MakeDirectory, Name,
    NewAttributes, Stability, WriteFile,
};
use howdah_wire::nfs4::attributes::{FS_LOCATIONS, Location, Locations, Values};
use howdah_wire::nfs4::compound::{ReplyHead, ResultHead};
use howdah_wire::nfs4::{
    Bitmap, COMPOUND, Name as Name4, Opaque, PROGRAM, StateId, Status, copy, create, create_session, getattr,
    getfh, link, lookup, offload_cancel, open, putfh, putrootfh, reclaim_complete, savefh, sequence, setattr,
};
use howdah_wire::xdr::{Array, Decode, Decoder, Encode, Encoder};

use crate::middleman::{Exchange, Fate, Middleman};
use crate::served::{EXPORT, Served, serve_memory};

const ME: Caller = Caller::ROOT;

/// A client, and who stands between it and its server.
fn between(served: &Served, options: &str) -> (Middleman, Arc<dyn Remote>) {
    let middleman = Middleman::before(served.address);
    let url =
        format!("nfs://{}{EXPORT}?version=4&lanes=1&{options}", middleman.address).parse().expect("a URL");
    let client = connect(&url, &ConnectOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    (middleman, client)
}

/// The operation behind PUTFH of a compound.
pub fn behind_put(exchange: &Exchange<'_>) -> Option<u32> {
    let word = |at: usize| Some(u32::from_be_bytes(*exchange.arguments.get(at..)?.first_chunk()?));
    // An empty tag, the minor version and the number of operations, SEQUENCE, and the number of PUTFH.
    let length = word(12 + 36 + 4)? as usize;
    word(12 + 36 + 4 + 4 + length.next_multiple_of(4))
}

/// The reply with SEQUENCE refused.
fn session_refused(status: Status) -> Fate {
    refused_alone(sequence::OPERATION, status)
}

/// The reply with the first operation refused.
fn refused_alone(operation: u32, status: Status) -> Fate {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes);
    ReplyHead { status, tag: b"", results: 1 }.encode(&mut encoder);
    ResultHead { operation, status }.encode(&mut encoder);
    Fate::Replace(bytes)
}

/// The same from a server that leaves out the result of SEQUENCE.
fn refused_without_results(status: Status) -> Fate {
    let mut bytes = Vec::new();
    ReplyHead { status, tag: b"", results: 0 }.encode(&mut Encoder::new(&mut bytes));
    Fate::Replace(bytes)
}

/// The reply with the operation behind SEQUENCE refused.
fn first_refused(exchange: &Exchange<'_>, status: Status) -> Fate {
    results(exchange, &[(putfh::OPERATION, &[])], status)
}

/// Replaces so many of the replies to compounds, and counts all of them.
fn replace(
    middleman: &Middleman,
    times: u32,
    with: impl Fn(&Exchange<'_>) -> Fate + Send + 'static,
) -> Arc<AtomicU32> {
    let (calls, counted) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let counts = Arc::clone(&counted);
    middleman.judge(move |exchange| {
        let is_compound = exchange.program == PROGRAM && exchange.procedure == COMPOUND;
        if !is_compound {
            return Fate::Pass;
        }
        counts.fetch_add(1, Ordering::SeqCst);
        if calls.fetch_add(1, Ordering::SeqCst) < times { with(exchange) } else { Fate::Pass }
    });
    counted
}

/// Results of operations that go well behind SEQUENCE, each with its body, and the status of the last.
fn results(exchange: &Exchange<'_>, operations: &[(u32, &[u8])], last: Status) -> Fate {
    let mut decoder = Decoder::new(exchange.results);
    ReplyHead::decode(&mut decoder).expect("a reply");
    ResultHead::decode(&mut decoder).expect("a result");
    let Ok(session) = sequence::Success::decode(&mut decoder) else { return Fate::Pass };
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes);
    let count = operations.len() as u32 + 1;
    ReplyHead { status: last, tag: b"", results: count }.encode(&mut encoder);
    ResultHead { operation: sequence::OPERATION, status: Status::OK }.encode(&mut encoder);
    session.encode(&mut encoder);
    for (number, (operation, body)) in operations.iter().enumerate() {
        let status = if number + 1 == operations.len() { last } else { Status::OK };
        ResultHead { operation: *operation, status }.encode(&mut encoder);
        encoder.fixed(body);
    }
    Fate::Replace(bytes)
}

#[test]
fn a_path_that_is_on_another_server_says_where() {
    const SENT: [&[u8]; 2] = [b"other.example", b"198.51.100.7"];
    let servers = SENT.map(Opaque);
    let (root, there) = ([Name4(b"export")], [Name4(b"vol"), Name4(b"data")]);
    let places = [Location { servers: Array::of(&servers), root: Array::of(&there) }];
    let mut value = Vec::new();
    Locations { root: Array::of(&root), places: Array::of(&places) }.encode(&mut Encoder::new(&mut value));
    let mut body = Vec::new();
    let attributes = Bitmap::of(&[FS_LOCATIONS]);
    Values { attributes, has_unknown: false, bytes: &value }.encode(&mut Encoder::new(&mut body));
    for (body, wanted) in [
        (body, "use other.example:/vol/data/below, or 198.51.100.7:/vol/data/below"),
        (Vec::new(), "which this one does not name"),
    ] {
        let served = serve_memory();
        let middleman = Middleman::before(served.address);
        middleman.judge(move |exchange| {
            let operation =
                |number| exchange.arguments.chunks(4).any(|word| word == u32::to_be_bytes(number));
            match exchange.procedure == COMPOUND && operation(lookup::OPERATION) {
                true if operation(reclaim_complete::OPERATION) => {
                    let handle = [0, 0, 0, 4, 1, 2, 3, 4];
                    let operations: [(u32, &[u8]); 4] = [
                        (reclaim_complete::OPERATION, &[]),
                        (putrootfh::OPERATION, &[]),
                        (getfh::OPERATION, &handle),
                        (getattr::OPERATION, &[]),
                    ];
                    results(exchange, &operations, Status::MOVED)
                }
                true => {
                    let operations: [(u32, &[u8]); 4] = [
                        (putrootfh::OPERATION, &[]),
                        (lookup::OPERATION, &[]),
                        (getattr::OPERATION, &body),
                        (lookup::OPERATION, &[]),
                    ];
                    results(exchange, &operations, Status::MOVED)
                }
                false => Fate::Pass,
            }
        });
        let url = format!("nfs://{}{EXPORT}/below?version=4", middleman.address).parse().expect("a URL");
        let error = connect(&url, &ConnectOptions::default()).err().expect("it is elsewhere").to_string();
        assert!(error.contains(wanted), "{error}");
    }
}

#[test]
fn a_call_is_made_again_while_the_server_says_not_now() {
    let served = serve_memory();
    let (middleman, client) = between(&served, "");
    for status in [Status::DELAY, Status::GRACE] {
        let calls = replace(&middleman, 2, move |exchange| first_refused(exchange, status));
        client.attributes(&ME, &client.root()).expect("attributes at last");
        assert_eq!(calls.load(Ordering::SeqCst), 3, "{status}");
    }
}

/// The reply cut off after these results, with the next operation refused; as it is if it has others.
fn refused_after(exchange: &Exchange<'_>, done: &[u32], operation: u32, status: Status) -> Fate {
    let mut decoder = Decoder::new(exchange.results);
    ReplyHead::decode(&mut decoder).expect("a reply");
    let begin = decoder.position();
    ResultHead::decode(&mut decoder).expect("SEQUENCE");
    sequence::Success::decode(&mut decoder).expect("it went well");
    for wanted in done {
        let head = ResultHead::decode(&mut decoder).expect("a result");
        if (head.operation, head.status) != (*wanted, Status::OK) {
            return Fate::Pass;
        }
        match head.operation {
            getattr::OPERATION => drop(getattr::Success::decode(&mut decoder).expect("attributes")),
            getfh::OPERATION => drop(getfh::Success::decode(&mut decoder).expect("a handle")),
            open::OPERATION => drop(open::Success::decode(&mut decoder).expect("an open")),
            create::OPERATION => drop(create::Success::decode(&mut decoder).expect("a change")),
            link::OPERATION => drop(link::Success::decode(&mut decoder).expect("a change")),
            setattr::OPERATION => drop(setattr::Success::decode(&mut decoder).expect("what was set")),
            _ => {}
        }
    }
    let mut bytes = Vec::new();
    let count = done.len() as u32 + 2;
    ReplyHead { status, tag: b"", results: count }.encode(&mut Encoder::new(&mut bytes));
    bytes.extend_from_slice(&exchange.results[begin..decoder.position()]);
    ResultHead { operation, status }.encode(&mut Encoder::new(&mut bytes));
    if operation == setattr::OPERATION {
        Bitmap::NONE.encode(&mut Encoder::new(&mut bytes));
    }
    Fate::Replace(bytes)
}

#[test]
fn what_was_made_is_finished_though_the_server_says_not_now_behind_it() {
    const MADE: [u32; 3] = [putfh::OPERATION, getattr::OPERATION, open::OPERATION];
    const HAD: [u32; 4] = [putfh::OPERATION, getattr::OPERATION, open::OPERATION, getfh::OPERATION];
    const SET: [u32; 5] =
        [putfh::OPERATION, getattr::OPERATION, open::OPERATION, getfh::OPERATION, setattr::OPERATION];
    const CREATED: [u32; 3] = [putfh::OPERATION, getattr::OPERATION, create::OPERATION];
    const LINKED: [u32; 5] =
        [putfh::OPERATION, getattr::OPERATION, savefh::OPERATION, putfh::OPERATION, link::OPERATION];
    let served = serve_memory();
    let (middleman, client) = between(&served, "");
    let root = client.root();
    let injected = |done: &'static [u32], operation| {
        replace(&middleman, 1, move |exchange| refused_after(exchange, done, operation, Status::DELAY))
    };
    let name = |text: &'static str| Name::parse(text.as_bytes()).expect("a name");
    let new = NewAttributes { size: Some(7), ..NewAttributes::with_mode(0o640) };
    let mut file = None;
    for (text, done, operation) in
        [("a", &MADE[..], getfh::OPERATION), ("b", &HAD, setattr::OPERATION), ("c", &SET, getattr::OPERATION)]
    {
        injected(done, operation);
        let how = Create::Guarded(new);
        let create = CreateFile::new(&root, name(text), &how);
        let made = client.create(&ME, create, &mut Change::default());
        let made = made.unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!((made.attributes.size, made.attributes.mode), (7, 0o640), "{text}");
        let found = client.lookup(&ME, &root, name(text)).expect("it is there").node;
        assert_eq!(found.handle, made.handle, "{text}");
        file = Some(found.handle);
    }
    let new = NewAttributes::with_mode(0o750);
    injected(&CREATED, getfh::OPERATION);
    let make = MakeDirectory::new(&root, name("d"), &new);
    let made = client.make_directory(&ME, make, &mut Change::default()).expect("made");
    assert_eq!(client.lookup(&ME, &root, name("d")).expect("it is there").node.handle, made.handle);
    injected(&LINKED, getattr::OPERATION);
    let file = file.expect("made");
    let linked =
        client.link(&ME, AddLink::new(&file, &root, name("l")), &mut Change::default()).expect("linked");
    assert_eq!(linked.links, 2);
}

#[test]
fn a_session_that_the_server_disowns_is_made_again_or_kept_and_calls_are_few() {
    let served = serve_memory();
    let (middleman, client) = between(&served, "");
    for (status, times) in [
        (Status::BADSESSION, 1),
        (Status::BADSESSION, 2),
        (Status::DEADSESSION, 2),
        (Status::SEQ_MISORDERED, 1),
        (Status::RETRY_UNCACHED_REP, 1),
        (Status::BADSLOT, 1),
    ] {
        let calls = replace(&middleman, times, move |_| session_refused(status));
        client.attributes(&ME, &client.root()).unwrap_or_else(|error| panic!("{status} {times}: {error}"));
        let calls = calls.load(Ordering::SeqCst);
        assert!(calls <= 12, "{status} {times}: {calls} calls");
    }
}

#[test]
fn a_session_that_is_lost_while_it_begins_is_made_again() {
    let served = serve_memory();
    let middleman = Middleman::before(served.address);
    let (lost, delayed) = (AtomicU32::new(0), AtomicU32::new(0));
    middleman.judge(move |exchange| {
        // An empty tag, the minor version and the number of operations.
        let first = exchange.arguments.get(12..16);
        let makes_session = first == Some(&create_session::OPERATION.to_be_bytes());
        if makes_session && delayed.fetch_add(1, Ordering::SeqCst) == 0 {
            return refused_alone(create_session::OPERATION, Status::DELAY);
        }
        let begins = |word: &[u8]| word == u32::to_be_bytes(reclaim_complete::OPERATION);
        let is_lost = exchange.arguments.chunks(4).any(begins) && lost.fetch_add(1, Ordering::SeqCst) < 2;
        if is_lost { session_refused(Status::BADSESSION) } else { Fate::Pass }
    });
    let url = format!("nfs://{}{EXPORT}?version=4&lanes=1", middleman.address).parse().expect("a URL");
    let client = connect(&url, &ConnectOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    make(&*client);
}

/// Makes a directory.
fn make(client: &dyn Remote) {
    let (root, new) = (client.root(), NewAttributes::with_mode(0o755));
    let make = MakeDirectory::new(&root, Name::parse(b"made").expect("a name"), &new);
    client.make_directory(&ME, make, &mut Change::default()).expect("made");
}

#[test]
fn a_server_may_leave_out_the_result_of_sequence() {
    let served = serve_memory();
    let (middleman, client) = between(&served, "");
    for status in [Status::RETRY_UNCACHED_REP, Status::BADSESSION] {
        replace(&middleman, 1, move |_| refused_without_results(status));
        client.attributes(&ME, &client.root()).unwrap_or_else(|error| panic!("{status}: {error}"));
    }
    // Its server ran the call: the next one has the next number.
    let calls = replace(&middleman, 1, move |_| refused_without_results(Status::SERVERFAULT));
    assert_eq!(client.attributes(&ME, &client.root()), Err(FsError::ServerFault));
    client.attributes(&ME, &client.root()).expect("another call");
    assert_eq!(calls.load(Ordering::SeqCst), 2);
}

#[test]
fn a_call_of_a_hard_client_outlives_any_number_of_lost_sessions() {
    let served = serve_memory();
    let (middleman, client) = between(&served, "");
    let lost = AtomicU32::new(0);
    middleman.judge(move |exchange| {
        // An empty tag, the minor version and the number of operations: SEQUENCE, PUTFH and GETATTR. A new session begins with fewer.
        let is_question = exchange.arguments[8..12] == 3_u32.to_be_bytes();
        let is_lost = is_question && lost.fetch_add(1, Ordering::SeqCst) < 4;
        if is_lost { session_refused(Status::BADSESSION) } else { Fate::Pass }
    });
    client.attributes(&ME, &client.root()).expect("a hard mount gives no error for restarts");
}

#[test]
fn a_server_that_takes_no_call_in_any_session_is_not_asked_for_ever() {
    let served = serve_memory();
    let (middleman, client) = between(&served, "soft=1");
    // Only calls in the session are refused: CREATE_SESSION goes well each time.
    let calls = replace(&middleman, u32::MAX, |exchange| {
        let in_session = Decoder::new(&exchange.arguments[12..]).u32("operation") == Ok(sequence::OPERATION);
        if in_session { session_refused(Status::BADSESSION) } else { Fate::Pass }
    });
    client.attributes(&ME, &client.root()).expect_err("no session works");
    let calls = calls.load(Ordering::SeqCst);
    assert!(calls <= 60, "{calls} calls");
}

#[test]
fn a_server_that_refuses_for_ever_is_asked_fifty_times_a_second_at_most() {
    const WATCHED: Duration = Duration::from_secs(3);
    type Refusal = fn(&Exchange<'_>, Status) -> Fate;
    let behind: Refusal = first_refused;
    let in_session: Refusal = |exchange, status| {
        let is_it = Decoder::new(&exchange.arguments[12..]).u32("operation") == Ok(sequence::OPERATION);
        if is_it { session_refused(status) } else { Fate::Pass }
    };
    let all: Refusal = |exchange, status| {
        refused_alone(Decoder::new(&exchange.arguments[12..]).u32("operation").expect("one"), status)
    };
    let cases = [
        (behind, Status::DELAY),
        (behind, Status::GRACE),
        (behind, Status::EXPIRED),
        (in_session, Status::DELAY),
        (in_session, Status::EXPIRED),
        (in_session, Status::BADSESSION),
        (in_session, Status::SEQ_MISORDERED),
        (all, Status::DELAY),
        (all, Status::GRACE),
        (all, Status::EXPIRED),
        (all, Status::BADSESSION),
        (all, Status::STALE_CLIENTID),
    ];
    std::thread::scope(|scope| {
        for (number, (refusal, status)) in cases.into_iter().enumerate() {
            scope.spawn(move || {
                let served = serve_memory();
                let (middleman, client) = between(&served, "");
                let (from, _) = source_and_target(&*client);
                let times = Arc::new(Mutex::new(Vec::new()));
                let noted = Arc::clone(&times);
                middleman.judge(move |exchange| {
                    if (exchange.program, exchange.procedure) != (PROGRAM, COMPOUND) {
                        return Fate::Pass;
                    }
                    noted.lock().expect("unpoisoned").push(Instant::now());
                    refusal(exchange, status)
                });
                let (sender, ended) = mpsc::channel();
                std::thread::scope(|scope| {
                    scope.spawn(move || {
                        let write = WriteFile::new(&from, 0, Data::Bytes(b"x"), Stability::FileSync);
                        let _ = sender.send(client.write(&ME, write, &mut Change::default()).map(drop));
                    });
                    let outcome = ended.recv_timeout(WATCHED).ok();
                    let times = times.lock().expect("unpoisoned").clone();
                    middleman.judge(|_| Fate::Pass);
                    let of_a_second = |(at, from): (usize, &Instant)| {
                        times[at..].iter().take_while(|time| **time - *from < Duration::from_secs(1)).count()
                    };
                    let most = times.iter().enumerate().map(of_a_second).max().unwrap_or(0);
                    let fits = (1..=50).contains(&most);
                    assert!(fits, "case {number}, {status}: {most} calls in a second, then {outcome:?}");
                });
            });
        }
    });
}

#[test]
fn a_change_whose_reply_was_lost_runs_once() {
    let served = serve_memory();
    let (middleman, client) = between(&served, "");
    let lost = AtomicU32::new(0);
    middleman.judge(move |_| if lost.fetch_add(1, Ordering::SeqCst) == 0 { Fate::Lose } else { Fate::Pass });
    let (root, new) = (client.root(), NewAttributes::with_mode(0o755));
    let name = Name::parse(b"once").expect("a name");
    let made = client.make_directory(&ME, MakeDirectory::new(&root, name, &new), &mut Change::default());
    made.expect("the session knows its first run");
}

#[test]
fn a_question_whose_reply_was_lost_and_not_kept_is_asked_again() {
    let served = serve_memory();
    let (middleman, client) = between(&served, "");
    let (root, lost) = (client.root(), AtomicU32::new(0));
    let wanted = client.attributes(&ME, &root);
    middleman.judge(move |_| if lost.fetch_add(1, Ordering::SeqCst) == 0 { Fate::Lose } else { Fate::Pass });
    assert_eq!(client.attributes(&ME, &root), wanted);
}

/// The reply to a COPY, as if the server copied later under the name of `copying`.
fn copied_later(exchange: &Exchange<'_>, copying: StateId) -> Fate {
    let mut decoder = Decoder::new(exchange.results);
    ReplyHead::decode(&mut decoder).expect("a reply");
    ResultHead::decode(&mut decoder).expect("SEQUENCE");
    sequence::Success::decode(&mut decoder).expect("it went well");
    for _ in ["PUTFH", "SAVEFH", "PUTFH", "COPY"] {
        assert_eq!(ResultHead::decode(&mut decoder).expect("a result").status, Status::OK);
    }
    let mut bytes = exchange.results[..decoder.position()].to_vec();
    let success = copy::Success::decode(&mut decoder).expect("it went well");
    copy::Success { state: Some(copying), ..success }.encode(&mut Encoder::new(&mut bytes));
    bytes.extend_from_slice(decoder.rest());
    Fate::Replace(bytes)
}

/// The reply with the operation behind PUTFH ended so.
fn second_ended(exchange: &Exchange<'_>, operation: u32, status: Status) -> Fate {
    let mut decoder = Decoder::new(exchange.results);
    ReplyHead::decode(&mut decoder).expect("a reply");
    ResultHead::decode(&mut decoder).expect("SEQUENCE");
    let session = sequence::Success::decode(&mut decoder).expect("it went well");
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes);
    ReplyHead { status, tag: b"", results: 3 }.encode(&mut encoder);
    ResultHead { operation: sequence::OPERATION, status: Status::OK }.encode(&mut encoder);
    session.encode(&mut encoder);
    ResultHead { operation: putfh::OPERATION, status: Status::OK }.encode(&mut encoder);
    ResultHead { operation, status }.encode(&mut encoder);
    Fate::Replace(bytes)
}

/// A file of 1,000 bytes and an empty one.
fn source_and_target(client: &dyn Remote) -> (Handle, Handle) {
    let root = client.root();
    let [from, to] = [b"from", b"to--"].map(|name| {
        let how = Create::Guarded(NewAttributes::with_mode(0o600));
        let create = CreateFile::new(&root, Name::parse(name).expect("a name"), &how);
        client.create(&ME, create, &mut Change::default()).expect("made").handle
    });
    let write = WriteFile::new(&from, 0, Data::Bytes(&[1; 1000]), Stability::FileSync);
    client.write(&ME, write, &mut Change::default()).expect("written");
    (from, to)
}

#[test]
fn a_copy_that_a_server_makes_later_is_cancelled() {
    let served = serve_memory();
    let (middleman, client) = between(&served, "");
    let (from, to) = source_and_target(&*client);
    let copying = StateId { sequence: 1, other: *b"it is copied" };
    for (status, refused) in [
        (Status::OK, FsError::NotSupported),
        (Status::BAD_STATEID, FsError::NotSupported),
        (Status::SERVERFAULT, FsError::Io),
    ] {
        let counted = Arc::new(AtomicU32::new(0));
        let counts = Arc::clone(&counted);
        middleman.judge(move |exchange| match behind_put(exchange) {
            Some(offload_cancel::OPERATION) => {
                counts.fetch_add(1, Ordering::SeqCst);
                assert!(exchange.arguments.ends_with(&copying.other));
                second_ended(exchange, offload_cancel::OPERATION, status)
            }
            Some(savefh::OPERATION) => copied_later(exchange, copying),
            _ => Fate::Pass,
        });
        let range = CopyRange::new((&from, 0), (&to, 0), 1000);
        let copied = client.ranges().expect("4.2").copy_range(&ME, range, &mut Change::default());
        assert_eq!((copied.err(), counted.load(Ordering::SeqCst)), (Some(refused), 1), "{status}");
    }
}

/// Its answer is held back until the caller has given up.
#[test]
fn a_copy_that_a_server_makes_later_is_cancelled_though_its_caller_gave_up() {
    let served = serve_memory();
    let (middleman, client) = between(&served, "soft=1");
    let (from, to) = source_and_target(&*client);
    let copying = StateId { sequence: 1, other: *b"it is copied" };
    let (answer, may_answer) = mpsc::channel::<()>();
    let (cancelled, is_cancelled) = mpsc::channel();
    middleman.judge(move |exchange| match behind_put(exchange) {
        Some(offload_cancel::OPERATION) => {
            let _ = cancelled.send(exchange.arguments.ends_with(&copying.other));
            second_ended(exchange, offload_cancel::OPERATION, Status::OK)
        }
        Some(savefh::OPERATION) => {
            // Until the test drops the other end.
            let _ = may_answer.recv();
            copied_later(exchange, copying)
        }
        _ => Fate::Pass,
    });
    let range = CopyRange::new((&from, 0), (&to, 0), 1000);
    client.ranges().expect("4.2").copy_range(&ME, range, &mut Change::default()).expect_err("no answer");
    drop(answer);
    assert_eq!(is_cancelled.recv(), Ok(true));
}
