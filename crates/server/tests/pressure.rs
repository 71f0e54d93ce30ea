//! Memory of connections runs short: those who take nothing are not read and get no more, others are served; new
//! connections are turned away, and at last those who take nothing are cut, until memory is there again.

mod common;

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{getattr, make_file, nfs_call, root, serve_tuned};
use howdah_net::SocketList;
use howdah_server::tuning::TuningReport;
use howdah_server::{Server, Tuning};
use howdah_tune::Setting;
use howdah_tune::sizes::SEND_LEAST;
use howdah_vfs::memory::MemoryFileSystem;
use howdah_wire::nfs3::{self, FileHandle};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use socket2::{Domain, Socket, Type};

/// Levels fall after ten seconds each.
const PATIENCE: Duration = Duration::from_secs(90);
/// A report looks at each connection: asked without a pause, it takes the time that the server needs.
const BETWEEN_REPORTS: Duration = Duration::from_millis(20);
/// The least that may be set.
const BUDGET: u64 = 16 << 20;
/// The data of a READ.
const LENGTH: usize = 1 << 20;
/// READs that each peer asks for.
const REPLIES: usize = 8;

fn serve_small() -> (Server, SocketAddr, Vec<u8>) {
    let tuning = Tuning { memory_budget: Setting::Fixed(BUDGET), ..Tuning::default() };
    let (server, address) = serve_tuned(Arc::new(MemoryFileSystem::new()), tuning);
    let file = make_file(&server, address, LENGTH as u64);
    (server, address, file)
}

/// Connects from that address of loopback; the peer's window stays small.
fn connect(from: IpAddr, to: SocketAddr) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    socket.set_recv_buffer_size(4 << 10).expect("a small window");
    socket.bind(&SocketAddr::new(from, 0).into()).expect("an address of loopback");
    socket.connect(&to.into()).expect("connecting");
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream
}

/// Peers that ask for much and take nothing.
fn crowd(count: usize, address: SocketAddr) -> Vec<TcpStream> {
    (0..count).map(|_| connect([127, 0, 0, 1].into(), address)).collect()
}

fn ask_for_much(crowd: &mut [TcpStream], file: &[u8]) {
    let burst = burst(file);
    for stream in crowd {
        stream.write_all(&burst).expect("sending");
    }
}

fn burst(file: &[u8]) -> Vec<u8> {
    let arguments = nfs3::read::Arguments { node: FileHandle(file), offset: 0, count: LENGTH as u32 };
    nfs_call(1, nfs3::read::PROCEDURE, &arguments).repeat(REPLIES)
}

/// The same by as many peers as it takes until the server turns others away. Those that were sized before they asked hold little each: on
/// a busy machine these are most of them.
fn crowd_that_is_too_much(server: &Server, address: SocketAddr, file: &[u8]) -> Vec<TcpStream> {
    const MORE: usize = 300;
    const ROUNDS: usize = 4;
    // Both ends of each connection are here.
    let most = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: most.maximum, ..most }).expect("up to the hard limit");
    let (burst, mut all) = (burst(file), Vec::new());
    for _ in 0..ROUNDS {
        let mut more = crowd(MORE, address);
        // The last of them may be turned away.
        more.retain_mut(|stream| stream.write_all(&burst).is_ok());
        all.extend(more);
        let start = Instant::now();
        while start.elapsed() < PATIENCE / 9 {
            if server.tuning_report().pressure == "refuse" {
                return all;
            }
            std::thread::sleep(BETWEEN_REPORTS);
        }
    }
    all
}

fn wait_for(server: &Server, what: &str, wanted: impl Fn(&TuningReport) -> bool) -> TuningReport {
    let start = Instant::now();
    loop {
        let report = server.tuning_report();
        if wanted(&report) {
            return report;
        }
        assert!(start.elapsed() < PATIENCE, "{what}: {} {:?}", report.pressure, report.used);
        std::thread::sleep(BETWEEN_REPORTS);
    }
}

/// What the kernel says that sockets of the server hold.
fn held_in_kernel(address: SocketAddr) -> u64 {
    let sockets = SocketList::open().and_then(|mut list| list.tcp()).expect("the kernel's list");
    let ours = sockets.iter().filter(|socket| socket.local == address);
    ours.filter_map(|socket| socket.memory)
        .map(|memory| u64::from(memory.send_queue_bytes) + u64::from(memory.receive_queue_bytes))
        .sum()
}

#[test]
fn peers_that_take_nothing_hold_no_more_than_their_part_and_others_are_served() {
    const CROWD: usize = 40;
    let (server, address, file) = serve_small();
    let mut crowd = crowd(CROWD, address);
    // Each has its part before it asks.
    let part = BUDGET / 2 / CROWD as u64;
    wait_for(&server, "parts", |report| {
        let sizes: Vec<u64> = report.connections.iter().map(|one| one.sizes.send_ceiling).collect();
        sizes.len() == CROWD && sizes.iter().all(|&size| size > 0 && size <= 2 * part)
    });
    ask_for_much(&mut crowd, &file);
    wait_for(&server, "queues that stand", |report| report.used.sending > BUDGET / 4);
    let mut other = TcpStream::connect(address).expect("connecting");
    other.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    for _ in 0..100 {
        getattr(&mut other, &root(&server)).expect("others are served");
        let held = held_in_kernel(address);
        assert!(held <= BUDGET, "{held} bytes");
    }
}

#[test]
fn a_crowd_that_comes_at_once_and_takes_nothing_holds_little_before_anybody_has_looked_at_it() {
    const CROWD: usize = 100;
    /// What each may hold unsent, and the reply that was begun below that.
    const EACH: u64 = 256 << 10;
    let (server, address, file) = serve_small();
    let mut crowd = crowd(CROWD, address);
    ask_for_much(&mut crowd, &file);
    let mut other = TcpStream::connect(address).expect("connecting");
    other.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let held = || held_in_kernel(address);
    let start = Instant::now();
    // Replies wait for all of them: whatever the kernel takes, it has.
    while held() < CROWD as u64 * SEND_LEAST / 2 {
        assert!(start.elapsed() < PATIENCE, "{} bytes", held());
        getattr(&mut other, &root(&server)).expect("others are served");
    }
    for _ in 0..20 {
        getattr(&mut other, &root(&server)).expect("others are served");
        assert!(held() <= CROWD as u64 * EACH, "{} bytes", held());
    }
}

/// Takes all replies; says whether all of them came.
fn take_all(stream: &mut TcpStream) -> bool {
    let mut rest = REPLIES * LENGTH;
    let mut buffer = vec![0; 256 << 10];
    while rest > 0 {
        match stream.read(&mut buffer) {
            Ok(count @ 1..) => rest = rest.saturating_sub(count),
            _ => return false,
        }
    }
    true
}

#[test]
fn who_takes_nothing_is_not_read_and_new_connections_are_turned_away_until_there_is_memory() {
    let (server, address, file) = serve_small();
    let mut crowd = crowd_that_is_too_much(&server, address, &file);
    let report = wait_for(&server, "level 3", |report| report.pressure == "refuse");
    assert!(report.used.sending + report.used.unread > BUDGET, "{:?}", report.used);
    let mut refused = connect([127, 0, 0, 1].into(), address);
    assert_eq!(refused.read(&mut [0]).unwrap_or(0), 0, "a client that has many gets no more");
    assert!(server.tuning_report().refused_connections > 0);
    let mut other = connect([127, 0, 0, 2].into(), address);
    getattr(&mut other, &root(&server)).expect("a client that has none gets one");
    // Though memory is short as before, one that is not read is read again once it takes its replies: none is lost. On a busy
    // machine one may have been cut before it took anything.
    let mut tried = Vec::new();
    loop {
        let untried = |report: &TuningReport| {
            let held = report.connections.iter().filter(|one| one.is_held).map(|one| one.client);
            held.into_iter().find(|client| !tried.contains(client))
        };
        let report = wait_for(&server, "somebody who is not read", |report| untried(report).is_some());
        let held = untried(&report).expect("it was seen");
        tried.push(held);
        let of = |stream: &&mut TcpStream| stream.local_addr().is_ok_and(|address| address == held);
        if take_all(crowd.iter_mut().find(of).expect("one of them")) {
            break;
        }
        assert!(tried.len() < 20, "all of them were cut");
    }
    // Those who take nothing are cut, and nobody has to wait for them.
    wait_for(&server, "the end of it", |report| report.pressure != "refuse");
    let held = held_in_kernel(address);
    assert!(held <= BUDGET, "{held} bytes");
    drop(crowd);
    let mut new = connect([127, 0, 0, 1].into(), address);
    getattr(&mut new, &root(&server)).expect("there is memory again");
}
