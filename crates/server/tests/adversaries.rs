//! Peers that mean harm or are broken: each costs bounded memory and hurts nobody else. The figures are printed.
//!
//! One test at a time: they look at the memory of this process, in which the server runs.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use common::{getattr, nfs_call, resident, root, serve_memory};
use howdah_wire::nfs3::{self, FileHandle, Status};
use howdah_wire::rpc::RecordMark;
use parking_lot::Mutex;
use socket2::{Domain, Socket, Type};

static ALONE: Mutex<()> = Mutex::new(());

/// Half-open and hostile connections at once; the issue names 5,000, and both ends are in this process.
const CROWD: usize = 5_000;
/// An honest call must be answered within this, whatever the others do: far above what it takes, far below what a
/// stalled server would need.
const PROMPT: Duration = Duration::from_secs(20);

/// It calls from an address of its own: where the kernel's memory is short, a client that has many connections gets no more.
fn honest_peer_is_served(server: &howdah_server::Server, address: std::net::SocketAddr) -> Duration {
    let start = Instant::now();
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&std::net::SocketAddr::from(([127, 0, 0, 2], 0)).into()).unwrap();
    socket.connect(&address.into()).unwrap();
    let mut stream = TcpStream::from(socket);
    assert!(getattr(&mut stream, &root(server)).is_ok());
    let took = start.elapsed();
    assert!(took < PROMPT, "an honest call took {took:?}");
    took
}

/// Makes room for the crowd; says how large it may be here.
fn crowd() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    let most = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    CROWD.min(usize::try_from(most.saturating_sub(200) / 2).unwrap())
}

#[test]
fn a_claim_of_2_gib_is_refused_at_once() {
    let _alone = ALONE.lock();
    let (server, address) = serve_memory();
    honest_peer_is_served(&server, address);
    let before = resident();
    for _ in 0..100 {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(&RecordMark { length: (1 << 31) - 1, last: true }.to_bytes()).unwrap();
        assert_eq!(stream.read(&mut [0]).unwrap_or(0), 0, "the connection is closed");
    }
    let grown = resident().saturating_sub(before);
    println!("100 claims of 2 GiB: {} KiB more memory", grown >> 10);
    assert!(grown < 4 << 20);
    honest_peer_is_served(&server, address);
}

#[test]
fn what_is_no_call_ends_its_connection() {
    let _alone = ALONE.lock();
    let (server, address) = serve_memory();
    let (reply, neither) = ([7, 1, 0, 0, 0, 0], [7, 2, 2, 100_003, 3, 0]);
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
    for message in [words(&[]), words(&[7]), words(&reply), words(&neither)] {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PROMPT)).unwrap();
        // What came before it is answered.
        assert!(getattr(&mut stream, &root(&server)).is_ok());
        let mark = RecordMark { length: message.len() as u32, last: true };
        stream.write_all(&[&mark.to_bytes()[..], &message].concat()).unwrap();
        assert_eq!(stream.read(&mut [0]).unwrap(), 0, "closed after {message:?}");
    }
    honest_peer_is_served(&server, address);
}

#[test]
fn peers_that_dribble_hold_little_memory_and_no_worker() {
    let _alone = ALONE.lock();
    let (server, address) = serve_memory();
    honest_peer_is_served(&server, address);
    let before = resident();
    let count = crowd();
    let mut crowd: Vec<TcpStream> = (0..count).map(|_| TcpStream::connect(address).unwrap()).collect();
    // Each claims a megabyte, and sends it byte by byte.
    let mark = RecordMark { length: 1 << 20, last: true }.to_bytes();
    for piece in [&mark[..], &[0], &[0], &[0]] {
        crowd.iter_mut().for_each(|stream| stream.write_all(piece).unwrap());
    }
    let took = honest_peer_is_served(&server, address);
    let grown = resident().saturating_sub(before);
    println!("{count} peers that dribble: {} KiB each, an honest call takes {took:?}", (grown / count) >> 10);
    assert!(grown / count < 16 << 10, "{grown} bytes for {count} peers");
}

#[test]
fn peers_that_never_read_are_not_read_either() {
    let _alone = ALONE.lock();
    let (server, address) = serve_memory();
    honest_peer_is_served(&server, address);
    let before = resident();
    let arguments = nfs3::getattr::Arguments { node: FileHandle(&root(&server)) };
    let burst = nfs_call(1, nfs3::getattr::PROCEDURE, &arguments).repeat(500);
    let never_read = || {
        // A small window: what the kernel holds for a peer is not what this is about.
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.set_recv_buffer_size(4 << 10).unwrap();
        socket.set_send_buffer_size(16 << 10).unwrap();
        socket.connect(&address.into()).unwrap();
        let mut stream = TcpStream::from(socket);
        stream.set_write_timeout(Some(Duration::from_millis(300))).unwrap();
        // Until nothing more goes: the server has stopped reading, and so has the kernel. Bounded all the same.
        let taken = (0..2_000).map_while(|_| stream.write(&burst).ok()).sum::<usize>();
        (stream, taken)
    };
    let (crowd, taken): (Vec<TcpStream>, Vec<usize>) = std::thread::scope(|scope| {
        let peers: Vec<_> = (0..20).map(|_| scope.spawn(never_read)).collect();
        peers.into_iter().map(|peer| peer.join().unwrap()).unzip()
    });
    let sent: usize = taken.iter().sum();
    let took = honest_peer_is_served(&server, address);
    let grown = resident().saturating_sub(before);
    println!(
        "20 peers that never read: {} MiB of calls taken, {} KiB of memory each, an honest call takes {took:?}",
        sent >> 20,
        (grown / crowd.len()) >> 10
    );
    assert!(grown / crowd.len() < 2 << 20);
}

#[test]
fn thousands_of_connections_cost_little_and_leave_room() {
    let _alone = ALONE.lock();
    let (server, address) = serve_memory();
    honest_peer_is_served(&server, address);
    let before = resident();
    let count = crowd();
    let handle = root(&server);
    let mut crowd: Vec<TcpStream> = (0..count).map(|_| TcpStream::connect(address).unwrap()).collect();
    for stream in &mut crowd {
        assert!(getattr(stream, &handle).is_ok());
    }
    let took = honest_peer_is_served(&server, address);
    let grown = resident().saturating_sub(before);
    println!(
        "{count} connections, each used once: {} bytes each, an honest call takes {took:?}",
        grown / count
    );
    assert!(grown / count < 8 << 10);
}

#[test]
fn forged_handles_open_nothing() {
    let _alone = ALONE.lock();
    let (server, address) = serve_memory();
    let mut stream = TcpStream::connect(address).unwrap();
    let real = root(&server);
    let mut seed = 0x5eed_u64;
    for _ in 0..2_000 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut forged = real.clone();
        let place = (seed >> 33) as usize % forged.len();
        forged[place] ^= 1 << (seed >> 61);
        let status = getattr(&mut stream, &forged).expect_err("refused").status;
        assert_eq!(status, Status::Stale, "byte {place} changed");
    }
    for length in 0..=64 {
        let status = getattr(&mut stream, &vec![0xa5; length]).expect_err("refused").status;
        assert_eq!(status, if length > 13 { Status::Stale } else { Status::BadHandle });
    }
    assert!(getattr(&mut stream, &real).is_ok());
}
