//! Caps of clients over real sockets: what is beyond a cap is answered late, and nothing else is.

mod common;

use std::io::Write;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{call, nfs_call, read_record};
use howdah_server::caps::CapRule;
use howdah_server::exports::{ClientRule, Export, Exports, Squash};
use howdah_server::limits::{HELD_DATAGRAMS_MAX, HELD_REPLIES_MAX};
use howdah_server::{Server, Settings, Sockets};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_wire::nfs3::{self, FileHandle, getattr};
use howdah_wire::rpc::RecordMark;

/// Far above what an answer takes, far below what a person waits for a failing test.
const PATIENCE: Duration = Duration::from_secs(20);

/// No cap on anything yet.
fn rule(name: &str) -> CapRule {
    let (clients, exports) = Default::default();
    let (read, write, calls) = Default::default();
    let name = name.to_owned();
    CapRule { name, clients, exports, per_client: false, read, write, calls, burst: Duration::ZERO }
}

/// A server of the exports `/capped` and `/free`, and the handles of their roots.
fn serve(caps: Vec<CapRule>) -> (Server, SocketAddr, [Vec<u8>; 2]) {
    let export = |name, id| {
        let rule = ClientRule { squash: Squash::None, ..ClientRule::default() };
        Export::new(name, id, Arc::new(MemoryFileSystem::new()), vec![rule])
    };
    let exports = Exports::new(vec![export("/capped", 1), export("/free", 2)], [7; 16]).expect("two");
    let sockets = Sockets::bind(&["127.0.0.1:0".parse().expect("an address")], true).expect("binding");
    let settings = Settings { caps, ..Settings::default() };
    let server = Server::start(&settings, sockets, exports).expect("starting");
    let address = server.addresses()[0].1;
    let exports = server.service().exports();
    let handles = [1, 2].map(|id| {
        let export = exports.find(id).expect("it");
        exports.seal(export, export.root()).as_wire().0.to_vec()
    });
    (server, address, handles)
}

fn connect(address: SocketAddr) -> TcpStream {
    let client = TcpStream::connect(address).expect("connecting");
    client.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    client
}

fn question(xid: u32, handle: &[u8]) -> Vec<u8> {
    nfs_call(xid, getattr::PROCEDURE, &getattr::Arguments { node: FileHandle(handle) })
}

/// The number of the call that is answered next.
fn answered(client: &mut TcpStream) -> u32 {
    u32::from_be_bytes(*read_record(client).first_chunk().expect("a number"))
}

#[test]
fn calls_beyond_a_cap_are_answered_in_their_order_and_late() {
    let capped = CapRule { calls: Some(20), exports: vec!["/capped".to_owned()], ..rule("slow") };
    let (_server, address, [capped, free]) = serve(vec![capped]);
    let mut client = connect(address);
    let calls = [1, 2, 3, 4].map(|xid| question(xid, &capped)).concat();
    let start = Instant::now();
    client.write_all(&[calls, question(9, &free)].concat()).expect("sending");
    assert_eq!(answered(&mut client), 9, "calls of another export go before");
    let order = [1, 2, 3, 4].map(|_| answered(&mut client));
    assert_eq!(order, [1, 2, 3, 4]);
    assert!(start.elapsed() >= Duration::from_millis(200), "{:?}", start.elapsed());
}

#[test]
fn a_connection_with_many_held_replies_is_read_on() {
    const CALLS: u32 = 3 * HELD_REPLIES_MAX as u32;
    let (_server, address, [capped, _]) = serve(vec![CapRule { calls: Some(10_000), ..rule("fast") }]);
    let mut client = connect(address);
    let mut sender = client.try_clone().expect("a descriptor");
    let sends = std::thread::spawn(move || {
        (0..CALLS).for_each(|xid| sender.write_all(&question(xid, &capped)).expect("sending"));
    });
    let start = Instant::now();
    let mut replies: Vec<u32> = (0..CALLS).map(|_| answered(&mut client)).collect();
    replies.sort_unstable();
    assert!(replies.into_iter().eq(0..CALLS));
    sends.join().expect("all sent");
    let least = Duration::from_secs(1) * (CALLS - 1) / 10_000;
    assert!(start.elapsed() >= least, "{:?}", start.elapsed());
}

#[test]
fn a_cap_that_is_lifted_counts_for_the_next_call() {
    let (server, address, [capped, _]) = serve(vec![CapRule { calls: Some(20), ..rule("r") }]);
    let mut client = connect(address);
    for value in ["1000000/s", "none"] {
        server.set_knob("limit.r.calls", value).expect("set");
        client.write_all(&question(1, &capped)).expect("sending");
        assert_eq!(answered(&mut client), 1);
    }
    let known = server.knobs().into_iter().find(|knob| knob.name == "limit.r.calls").expect("a knob");
    assert_eq!(known.set, "none");
    let error = server.set_knob("limit.r.calls", "0").expect_err("it would stop all").to_string();
    assert!(error.contains("\"none\""), "{error}");
}

#[test]
fn attributes_are_not_held_by_caps_on_bytes() {
    let (_server, address, [capped, _]) = serve(vec![CapRule { read: Some(1), write: Some(1), ..rule("r") }]);
    let mut client = connect(address);
    for xid in 0..100 {
        client.write_all(&question(xid, &capped)).expect("sending");
        assert_eq!(answered(&mut client), xid);
    }
}

#[test]
fn a_server_that_stops_holds_nothing() {
    let capped_calls = CapRule { calls: Some(1), exports: vec!["/capped".to_owned()], ..rule("r") };
    let (server, address, [capped, free]) = serve(vec![capped_calls]);
    let mut client = connect(address);
    let calls: Vec<Vec<u8>> = (0..60).map(|xid| question(xid, &capped)).collect();
    client.write_all(&[calls.concat(), question(99, &free)].concat()).expect("sending");
    assert_eq!(answered(&mut client), 99, "all others are held");
    let start = Instant::now();
    let stopped = std::thread::spawn(move || server.stop(PATIENCE));
    (0..60).for_each(|xid| assert_eq!(answered(&mut client), xid));
    drop(client);
    assert!(stopped.join().expect("it stops"), "all was answered");
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
}

/// Asks for attributes by a datagram.
fn send(client: &UdpSocket, address: SocketAddr, xid: u32, handle: &[u8]) {
    let arguments = getattr::Arguments { node: FileHandle(handle) };
    let record = call(xid, nfs3::PROGRAM, nfs3::VERSION, getattr::PROCEDURE, &arguments);
    client.send_to(&record[RecordMark::SIZE..], address).expect("sending");
}

#[test]
fn datagrams_without_a_cap_are_answered_while_all_places_of_held_ones_are_taken() {
    const CALLS: u32 = 2 * HELD_DATAGRAMS_MAX as u32;
    const FREE: u32 = u32::MAX;
    let slow = CapRule { calls: Some(1), exports: vec!["/capped".to_owned()], ..rule("slow") };
    let (server, address, [capped, free]) = serve(vec![slow]);
    let client = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    client.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let next = || {
        let mut reply = [0; 4096];
        client.recv(&mut reply).map(|_| u32::from_be_bytes(*reply.first_chunk().expect("a number")))
    };
    for xid in 0..CALLS {
        send(&client, address, xid, &capped);
        // So that no socket's buffer overflows.
        send(&client, address, FREE, &free);
        while next().expect("a reply") != FREE {}
    }
    server.set_knob("limit.slow.calls", "none").expect("set");
    send(&client, address, CALLS, &capped);
    while next().expect("who has no cap now is answered") != CALLS {}
}

#[test]
fn datagrams_beyond_a_cap_are_answered_late() {
    let (_server, address, [capped, _]) = serve(vec![CapRule { calls: Some(20), ..rule("slow") }]);
    let client = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    client.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let start = Instant::now();
    (0..4).for_each(|xid| send(&client, address, xid, &capped));
    for xid in 0..4u32 {
        let mut reply = [0; 4096];
        client.recv(&mut reply).expect("a reply");
        assert_eq!(reply[..4], xid.to_be_bytes());
    }
    assert!(start.elapsed() >= Duration::from_millis(200), "{:?}", start.elapsed());
}
