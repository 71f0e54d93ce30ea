//! Lanes that come and go over real sockets, to a server that says nothing but the least.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use howdah_wire::rpc::{Accepted, RecordMark, ReplyHeader};
use howdah_wire::xdr::Encoder;

use super::*;
use crate::channel::{CallError, Class, GrowthReason, LaneLimit, lead};

/// Answers every call with nothing.
fn answer_all(mut stream: TcpStream) -> io::Result<()> {
    loop {
        let mut mark = [0; RecordMark::SIZE];
        stream.read_exact(&mut mark)?;
        let mut message = vec![0; RecordMark::from_bytes(mark).length as usize];
        stream.read_exact(&mut message)?;
        let xid = u32::from_be_bytes([message[0], message[1], message[2], message[3]]);
        if message[23] != 0 {
            // Bulk, over a slow line.
            thread::sleep(Duration::from_millis(30));
        }
        let reply = Encoder::to_vec(&ReplyHeader { xid, outcome: Ok(Accepted::Success) });
        let mark = RecordMark { length: reply.len() as u32, last: true };
        stream.write_all(&[&mark.to_bytes()[..], &reply].concat())?;
    }
}

/// A server that takes so many connections, and closes further ones at once.
struct Server {
    address: SocketAddr,
    open: Arc<AtomicUsize>,
}

fn serve(most: usize) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound");
    let open = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&open);
    thread::spawn(move || {
        for stream in listener.incoming() {
            if count.load(Ordering::SeqCst) >= most {
                continue;
            }
            count.fetch_add(1, Ordering::SeqCst);
            let count = Arc::clone(&count);
            thread::spawn(move || {
                let _ = answer_all(stream.expect("a connection"));
                count.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
    Server { address, open }
}

/// A channel that takes the server for one on another host.
fn open(server: &Server) -> Streams {
    open_knowing(server, None)
}

/// The same over a path that is known.
fn open_knowing(server: &Server, known: Option<FoundPath>) -> Streams {
    let options = ChannelOptions::default();
    let connector = Connector::new(&options, Vec::new(), None);
    let (first, _) = connect_first(&connector, &[server.address]).expect("it listens");
    let first = First { same_host: false, ..first };
    Streams::over(connector, first, &[server.address], (&options, ChannelProtocol::default()), (known, known))
        .expect("threads")
}

fn wait(streams: &Streams, call: &Arc<Call>) {
    lead::wait_for(streams.shared(), call).expect("an answer");
}

fn call(streams: &Streams) {
    wait(streams, &streams.start(Request::null(100_003, 3)));
}

/// How many lanes are used, and why.
fn lanes(streams: &Streams) -> (usize, GrowthReason) {
    streams.shared().driver.core().lanes()
}

fn delivers(streams: &Streams, lane: usize) -> bool {
    streams.shared().driver.core().sketch(lane).delivers
}

/// Looks of so many seconds in which each lane is the limit, while nothing is delivered.
fn look(streams: &Streams, from: u64, seconds: u64) {
    for second in from..from + seconds {
        let now = Duration::from_secs(second);
        let limit = LaneLimit::OurSendBuffer;
        streams.shared().decide(|core| core.on_look(limit, true, Duration::ZERO, now));
    }
}

fn until(streams: &Streams, what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < end, "{what}: {:?}", lanes(streams));
        call(streams);
        thread::yield_now();
    }
}

#[test]
fn a_channel_over_a_known_path_begins_with_several_lanes() {
    let server = serve(16);
    let known = FoundPath { sent: 1e9, received: 5e8, round_trip: Duration::from_millis(100), loss: 0.0 };
    let streams = open_knowing(&server, Some(known));
    assert_eq!((lanes(&streams).0, streams.expected_path()), (4, Some(known)));
    until(&streams, "all are connected", || server.open.load(Ordering::SeqCst) == 4);
    let report = crate::channel::Channel::open(
        crate::channel::Target { addresses: vec![server.address], transport: crate::channel::Transport::Tcp },
        ChannelOptions { remembers_path: true, ..ChannelOptions::default() },
    );
    assert_eq!(report.expect("open").report().known_path, None, "a server on this host has no path");
}

#[test]
fn lanes_that_are_tried_carry_calls_and_go_when_they_were_in_vain() {
    let server = serve(16);
    let streams = open(&server);
    call(&streams);
    look(&streams, 1, 4);
    assert_eq!(lanes(&streams).0, 2);
    until(&streams, "the second is connected", || delivers(&streams, 0) && delivers(&streams, 1));
    assert_eq!(server.open.load(Ordering::SeqCst), 2);
    look(&streams, 5, 5);
    assert!(matches!(lanes(&streams), (1, GrowthReason::InVain { tried: 2, .. })));
    until(&streams, "its connection is closed", || server.open.load(Ordering::SeqCst) == 1);
    // After a while it is tried again, on the same lane.
    look(&streams, 100, 5);
    until(&streams, "it is there again", || server.open.load(Ordering::SeqCst) == 2);
}

#[test]
fn a_server_that_takes_no_second_connection_is_left_alone_and_no_call_fails() {
    let server = serve(1);
    let streams = open(&server);
    call(&streams);
    look(&streams, 1, 4);
    until(&streams, "it is given up", || lanes(&streams) == (1, GrowthReason::Refused { tried: 2 }));
    call(&streams);
    assert_eq!(server.open.load(Ordering::SeqCst), 1);
}

#[test]
fn a_call_that_is_made_after_the_channel_was_closed_is_over() {
    let server = serve(1);
    let streams = open(&server);
    let shared = streams.shared();
    shared.decide(|core| core.close(shared.time()));
    let late = streams.start(Request::null(100_003, 3));
    assert!(matches!(lead::wait_for(shared, &late), Err(CallError::Closed)));
}

/// A call that the server takes its time with.
fn start_bulk(streams: &Streams) -> Arc<Call> {
    static DATA: [u8; 1 << 20] = [7; 1 << 20];
    let payload = Some(bytes::Bytes::from_static(&DATA).into());
    streams.start(Request { procedure: 7, payload, class: Class::Write, ..Request::null(100_003, 3) })
}

#[test]
fn calls_that_wait_their_turn_go_over_the_lane_that_is_free_then() {
    let server = serve(2);
    let streams = open(&server);
    call(&streams);
    // More than may be in flight: all of them begin on the only lane that there is.
    let calls: Vec<_> = (0..120).map(|_| start_bulk(&streams)).collect();
    look(&streams, 1, 4);
    assert_eq!(lanes(&streams).0, 2);
    calls.iter().for_each(|call| wait(&streams, call));
    let over_the_second = calls.iter().filter(|call| call.lane() == Some(1)).count();
    assert!((1..=110).contains(&over_the_second), "{over_the_second} of {}", calls.len());
}

/// Keeps bulk under way for a while, and makes small calls meanwhile; gives the connections that carried those.
fn call_with_bulk(streams: &Streams, enough: impl Fn() -> bool) -> Vec<usize> {
    let mut used = Vec::new();
    let mut bulk = VecDeque::new();
    let end = Instant::now() + Duration::from_secs(20);
    while !enough() && Instant::now() < end {
        while bulk.len() < 6 {
            bulk.push_back(start_bulk(streams));
        }
        let small = streams.start(Request::null(100_003, 3));
        used.push(small.lane().expect("a lane"));
        wait(streams, &small);
        wait(streams, &bulk.pop_front().expect("bulk"));
    }
    bulk.iter().for_each(|call| wait(streams, call));
    used
}

#[test]
fn small_calls_that_would_wait_for_bulk_get_a_connection_of_their_own() {
    let server = serve(2);
    let streams = open(&server);
    call(&streams);
    let small = || streams.shared().driver.core().small_lane();
    assert_eq!(small(), None);
    let answered = |lane| streams.shared().driver.core().sketch(lane).meter.round_trip().is_some();
    let used = call_with_bulk(&streams, || small().is_some_and(answered));
    assert_eq!((used[0], server.open.load(Ordering::SeqCst)), (0, 2), "{used:?}");
    let calls = AtomicUsize::new(0);
    let used = call_with_bulk(&streams, || calls.fetch_add(1, Ordering::SeqCst) > 10);
    assert!(used[1..].iter().all(|&lane| Some(lane) == small()), "{used:?}");
    // No bulk is in the way: the first lane will do.
    assert_eq!(streams.start(Request::null(100_003, 3)).lane(), Some(0));
}

#[test]
fn a_server_that_takes_no_further_connection_is_called_over_the_first() {
    let server = serve(1);
    let streams = open(&server);
    let connections = || streams.shared().driver.core().sketch(LANES_MAX).connections;
    let is_given_up = || connections() > 0 && streams.shared().driver.core().small_lane().is_none();
    let used = call_with_bulk(&streams, is_given_up);
    assert!(is_given_up());
    assert!(used.iter().all(|&lane| lane == 0), "{used:?}");
}
