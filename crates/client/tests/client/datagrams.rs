//! RPC over UDP against a real server over loopback.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use howdah_client::Remote;
use howdah_client::channel::{CallError, Channel, ChannelOptions, Patience, Request, Target, Transport};
use howdah_needs::{Lack, skipped};
use howdah_net::Namespace;
use howdah_vfs::conformance;
use howdah_vfs::conformance::operations::run_operations;
use howdah_vfs::{
    Caller, Change, Create, CreateFile, Data, Name, NewAttributes, ReadFile, Stability, WriteFile,
};

use crate::served;
use crate::served::{Served, Way, serve, serve_local, serve_memory};

const ME: Caller = Caller::ROOT;
const FILE: usize = 50 << 20;
const PIECE: usize = 256 << 10;

/// What is in the file from there on: no two pieces alike.
fn pattern(offset: usize, length: usize) -> Vec<u8> {
    (offset / 8..(offset + length).div_ceil(8))
        .flat_map(|word| (word as u64).to_be_bytes())
        .take(length)
        .collect()
}

fn retransmissions(client: &dyn Remote) -> u64 {
    client.channel().report().procedures.iter().map(|procedure| procedure.retransmissions).sum()
}

#[test]
fn a_file_is_written_and_read_without_sending_anything_twice() {
    for size in [8 << 10, 32 << 10] {
        let served = serve_memory();
        let client = served.client(&format!("proto=udp&rsize={size}&wsize={size}"));
        let name = Name::parse(b"file").expect("a name");
        let how = Create::Guarded(NewAttributes::with_mode(0o600));
        let made = client.create(&ME, CreateFile::new(&client.root(), name, &how), &mut Change::default());
        let node = made.expect("a file").handle;
        for offset in (0..FILE).step_by(PIECE) {
            let data = pattern(offset, PIECE);
            let mut change = Change::default();
            let written = client.write(
                &ME,
                WriteFile::new(&node, offset as u64, Data::Bytes(&data), Stability::Unstable),
                &mut change,
            );
            assert_eq!(written.expect("written").count, PIECE);
        }
        for offset in (0..FILE).step_by(PIECE) {
            let mut buffer = Vec::new();
            client.read(&ME, ReadFile::new(&node, offset as u64, PIECE), &mut buffer).expect("read");
            assert!(buffer == pattern(offset, PIECE), "other data at {offset}");
        }
        let report = client.channel().report();
        let reads = report.procedures.iter().find(|procedure| procedure.procedure == 6).expect("READs");
        assert_eq!(reads.calls, (FILE / size) as u64, "in the size that was asked for");
        let datagrams = report.datagrams.clone().expect("by datagrams");
        // A host that does nothing for a second makes timers run out, once or twice; that the answer came all the same is then seen,
        // of all calls but the last.
        let stalls: u64 = datagrams.classes.iter().map(|class| class.for_nothing).sum();
        assert!(retransmissions(&*client) <= 3 * stalls + 2, "{report:?}");
        assert_eq!((datagrams.transfer_drops, datagrams.advice), (0, None));
    }
}

/// The suite, and lists of operations against the model.
fn conforms(served: &Served) {
    let way = Way { transport: Transport::Udp, lanes: 1, version: "3" };
    let report = conformance::run(&|| served.subject(way));
    assert!(report.is_success(), "{report}");
    for seed in 0..10 {
        run_operations(seed, 300, &|| served.subject(way))
            .unwrap_or_else(|difference| panic!("{difference}"));
    }
}

#[test]
fn memory_conforms_over_datagrams() {
    conforms(&serve_memory());
}

#[test]
fn a_local_directory_conforms_over_datagrams() {
    conforms(&serve_local());
}

fn null() -> Request<'static> {
    Request::null(100_003, 3)
}

fn open(address: SocketAddr, patience: Patience) -> Channel {
    let options = ChannelOptions { patience, ..ChannelOptions::default() };
    Channel::open(Target { addresses: vec![address], transport: Transport::Udp }, options).expect("a channel")
}

fn ip(arguments: &str) {
    let status = std::process::Command::new("ip").args(arguments.split(' ')).status();
    assert!(status.expect("ip, of the package iproute2").success(), "ip {arguments}");
}

#[test]
fn a_call_goes_on_from_another_address_when_ours_is_gone() {
    let host = match Namespace::new() {
        Ok(host) => host,
        Err(error) => return skipped(Lack::Namespaces, format_args!("making network namespaces: {error}")),
    };
    let on_a_host = || {
        ip("link set lo up");
        ip("address add 10.1.2.9/32 dev lo");
        ip("address add 10.1.2.1/32 dev lo");
        ip("route replace local 10.1.2.9 dev lo table local src 10.1.2.1");
        let server = UdpSocket::bind("10.1.2.9:0").expect("a free port");
        server.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        let channel = open(server.local_addr().expect("bound"), Patience::Hard);
        let pending = channel.start(null());
        let mut buffer = [0; 1024];
        let (_, first) = server.recv_from(&mut buffer).expect("a call");
        ip("address add 10.1.2.2/32 dev lo");
        ip("address del 10.1.2.1/32 dev lo");
        ip("route replace local 10.1.2.9 dev lo table local src 10.1.2.2");
        // It may have been sent again meanwhile.
        let from = loop {
            let (_, from) = server.recv_from(&mut buffer).expect("the call again");
            if from != first {
                break from;
            }
        };
        assert_eq!(from, SocketAddr::new([10, 1, 2, 2].into(), first.port()));
        let reply = [&buffer[..4], &[0, 0, 0, 1], &[0; 16]].concat();
        server.send_to(&reply, from).expect("sent");
        pending.wait().expect("an answer");
        assert_eq!(channel.report().lanes[0].local, Some(from));
    };
    host.run_in(on_a_host).expect("a thread");
}

#[test]
fn a_lost_call_is_sent_again_from_the_same_port_with_the_same_xid() {
    let server = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let channel = open(server.local_addr().expect("bound"), Patience::Hard);
    let pending = channel.start(null());
    let mut calls = Vec::new();
    for _ in 0..2 {
        let mut buffer = [0; 1024];
        let (length, from) = server.recv_from(&mut buffer).expect("a call");
        calls.push((from, buffer[..length].to_vec()));
    }
    assert_eq!(calls[0], calls[1]);
    let (from, call) = &calls[0];
    // Accepted, a verifier of nothing, success.
    let reply = [&call[..4], &[0, 0, 0, 1], &[0; 16]].concat();
    // Whatever else comes is no answer.
    for datagram in [&b"junk"[..], &[0; 40], &call[..], &reply] {
        server.send_to(datagram, from).expect("sent");
    }
    let answer = pending.wait().expect("an answer");
    assert!(answer.sent_more_than_once && answer.results.is_empty());
    let report = channel.report();
    let procedure = &report.procedures[0];
    assert!(procedure.calls == 1 && procedure.retransmissions >= 1, "{report:?}");
}

#[test]
fn a_soft_channel_gives_up_and_a_hard_one_ends_its_calls_when_it_is_closed() {
    let silent = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let address = silent.local_addr().expect("bound");
    let soft = open(address, Patience::Soft(Duration::from_millis(50)));
    let started = Instant::now();
    assert!(matches!(soft.call(null()), Err(CallError::TimedOut)));
    assert!(started.elapsed() >= Duration::from_millis(50));
    let hard = open(address, Patience::Hard);
    let pending = hard.start(null());
    drop(hard);
    assert!(matches!(pending.wait(), Err(CallError::Closed)));
}

#[test]
fn where_nobody_listens_and_nobody_ever_did_the_call_says_so() {
    let nobody = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let address = nobody.local_addr().expect("bound");
    drop(nobody);
    let channel = open(address, Patience::Hard);
    assert!(matches!(channel.call(null()), Err(CallError::Connect(_))));
}

#[test]
fn many_threads_share_a_channel() {
    let served = serve(served::memory());
    let channel = Arc::new(open(served.address, Patience::Hard));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let channel = &channel;
            scope.spawn(move || (0..200).for_each(|_| drop(channel.call(null()).expect("an answer"))));
        }
    });
    assert_eq!(channel.report().procedures[0].calls, 8 * 200);
}
