//! Calls that wait for storage hold up nobody else, and peers that say goodbye early get all that they asked for.

mod common;

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::{make_file, nfs_call, read_record, root, serve, serve_with};
use howdah_store::local::{LocalFileSystem, Options};
use howdah_tune::Gauges;
use howdah_vfs::layer::{Call, Delayed, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{FileSystem, Result};
use howdah_wire::nfs3::{self, FileHandle, commit, getattr, write};
use howdah_wire::rpc::{Accepted, RecordMark, ReplyHeader};
use howdah_wire::xdr::{Decode, Decoder};
use parking_lot::{Condvar, Mutex};
use socket2::{Domain, Socket, Type};

/// Far above what an answer takes, far below what a person waits for a failing test.
const PATIENCE: Duration = Duration::from_secs(10);

/// Storage that hangs in one kind of call until it is let go.
struct Gate {
    inner: MemoryFileSystem,
    shut: Call,
    open: Mutex<bool>,
    opened: Condvar,
    /// What has passed, in order.
    passed: Mutex<Vec<Call>>,
}

impl Gate {
    fn around(inner: MemoryFileSystem, shut: Call) -> Arc<Self> {
        let (open, opened, passed) = Default::default();
        Arc::new(Self { inner, shut, open, opened, passed })
    }

    fn open(&self) {
        *self.open.lock() = true;
        self.opened.notify_all();
    }
}

impl Layer for Gate {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        if call == self.shut {
            self.opened.wait_while(&mut self.open.lock(), |open| !*open);
        }
        self.passed.lock().push(call);
        run(&self.inner)
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("connecting");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream
}

fn with_a_small_window(address: SocketAddr) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    socket.set_recv_buffer_size(4 << 10).expect("a small window");
    socket.connect(&address.into()).expect("connecting");
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream
}

/// The xid of the next reply, which must be a success.
fn next_xid(stream: &mut TcpStream) -> u32 {
    let record = read_record(stream);
    let header = ReplyHeader::decode(&mut Decoder::new(&record)).expect("a reply");
    assert_eq!(header.outcome, Ok(Accepted::Success));
    header.xid
}

/// Makes a file of this size; gives its handle.
fn bulk_write_call(xid: u32, node: &[u8], length: usize) -> Vec<u8> {
    let (node, stability, data) = (FileHandle(node), write::Stability::Unstable, vec![7; length]);
    let arguments = write::Arguments { node, offset: 0, count: length as u32, stability, data: &data };
    nfs_call(xid, write::PROCEDURE, &arguments)
}

fn getattr_call(xid: u32, node: &[u8]) -> Vec<u8> {
    nfs_call(xid, getattr::PROCEDURE, &getattr::Arguments { node: FileHandle(node) })
}

#[test]
fn a_peer_that_sends_no_more_gets_all_replies_and_then_the_end() {
    const READS: u32 = 7;
    const SIZE: u32 = 1 << 20;
    // Real files: ranges of them wait to be sent without holding memory, so that the server reads on.
    let directory = tempfile::tempdir().expect("a directory");
    let (server, address) =
        serve(Arc::new(LocalFileSystem::open(directory.path(), Options::default()).expect("opening it")));
    let file = make_file(&server, address, SIZE.into());
    // So that the server still has replies to send when it sees that no more calls come.
    let mut stream = with_a_small_window(address);
    for xid in 0..READS {
        let arguments = nfs3::read::Arguments { node: FileHandle(&file), offset: 0, count: SIZE };
        stream.write_all(&nfs_call(xid, nfs3::read::PROCEDURE, &arguments)).expect("sending");
    }
    stream.shutdown(Shutdown::Write).expect("no more calls");
    let mut xids: Vec<u32> = (0..READS).map(|_| next_xid(&mut stream)).collect();
    xids.sort_unstable();
    assert_eq!(xids, (0..READS).collect::<Vec<_>>());
    assert_eq!(stream.read(&mut [0]).expect("the server closes too"), 0);
}

#[test]
fn a_reply_does_not_wait_for_the_slow_call_behind_it() {
    let gate = Gate::around(MemoryFileSystem::new(), Call::Commit);
    let (server, address) = serve(gate.clone());
    let file = make_file(&server, address, 0);
    let arguments = commit::Arguments { node: FileHandle(&file), offset: 0, count: 0 };
    let slow = nfs_call(2, commit::PROCEDURE, &arguments);
    let mut stream = connect(address);
    stream.write_all(&[getattr_call(1, &file), slow].concat()).expect("sending");
    assert_eq!(next_xid(&mut stream), 1);
    gate.open();
    assert_eq!(next_xid(&mut stream), 2);
}

#[test]
fn a_quick_call_that_hangs_holds_up_no_other() {
    let gate = Gate::around(MemoryFileSystem::new(), Call::Access);
    let (server, address) = serve(gate.clone());
    let file = make_file(&server, address, 0);
    let arguments = nfs3::access::Arguments { node: FileHandle(&file), wanted: 1 };
    let hung = nfs_call(0, nfs3::access::PROCEDURE, &arguments);
    let mut stream = connect(address);
    // In the same segment as the call that hangs, in pieces, and later.
    let burst: Vec<u8> = (1..50).flat_map(|xid| getattr_call(xid, &file)).collect();
    stream.write_all(&[&hung[..], &burst, &getattr_call(50, &file)[..30]].concat()).expect("sending");
    (1..50).for_each(|xid| assert_eq!(next_xid(&mut stream), xid));
    stream.write_all(&getattr_call(50, &file)[30..]).expect("sending");
    assert_eq!(next_xid(&mut stream), 50);
    // A bulk WRITE, which is moved from the socket in place where it can be.
    stream.write_all(&bulk_write_call(51, &file, 1 << 20)).expect("sending");
    assert_eq!(next_xid(&mut stream), 51);
    gate.open();
    assert_eq!(next_xid(&mut stream), 0);
    assert!(server.stop(PATIENCE));
}

#[test]
fn a_peer_that_never_stops_does_not_keep_its_worker() {
    // WRITEs take longer than it takes to send them: there is always one more.
    let delay = Duration::from_micros(100);
    let slow = Delayed::around(Arc::new(MemoryFileSystem::new()), delay, Arc::new(std::thread::sleep));
    let (server, address) = serve_with(Arc::new(slow), 1);
    let root = root(&server);
    let file = make_file(&server, address, 0);
    let burst = bulk_write_call(1, &file, 100 << 10).repeat(20);
    let answered = AtomicBool::new(false);
    let flood = connect(address);
    std::thread::scope(|scope| {
        let (mut sender, mut receiver) = (&flood, &flood);
        scope.spawn(move || while sender.write_all(&burst).is_ok() {});
        let mut buffer = vec![0; 4 << 10];
        // Once replies come, the only worker has the flood in hand.
        receiver.read_exact(&mut buffer).expect("replies");
        scope.spawn(move || while receiver.read(&mut buffer).is_ok_and(|count| count > 0) {});
        scope.spawn(|| {
            let mut stream = connect(address);
            stream.write_all(&getattr_call(2, &root)).expect("sending");
            let mut mark = [0; 4];
            answered.store(stream.read_exact(&mut mark).is_ok(), Ordering::SeqCst);
            flood.shutdown(Shutdown::Both).expect("the end of the flood");
        });
    });
    assert!(answered.load(Ordering::SeqCst), "one call of another peer, within {PATIENCE:?}");
}

fn datagrams_to(address: SocketAddr) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    socket.connect(address).expect("connected");
    socket
}

/// Waits until the peer's kernel has all that was sent: on a busy machine it may come there after what is sent later.
fn arrived(stream: &TcpStream) {
    let sending = || {
        let sample = howdah_net::sample(stream.as_fd(), Duration::ZERO, &Gauges::default());
        sample.expect("a connection").sending
    };
    while sending().flight + sending().unsent > 0 {
        std::thread::yield_now();
    }
}

/// Sends a call in a datagram, which has no record mark.
fn send_datagram(socket: &UdpSocket, call: &[u8]) {
    socket.send(&call[RecordMark::SIZE..]).expect("sent");
}

#[test]
fn datagrams_in_a_row_let_others_have_their_turn() {
    const FLOOD: u32 = 200;
    // Those that are expected to wait after each one, those that are expected to be quick after a turn of 64, or two: while the
    // first one hangs the watch arms the socket again, perhaps before the other's call has come.
    for (shut, most) in [(Call::Commit, 5), (Call::Access, 130)] {
        let gate = Gate::around(MemoryFileSystem::new(), shut);
        let (server, address) = serve_with(gate.clone(), 1);
        let file = make_file(&server, address, 0);
        let mut stream = connect(address);
        common::getattr(&mut stream, &file).expect("attributes");
        let socket = datagrams_to(address);
        for xid in 0..FLOOD {
            let node = FileHandle(&file);
            let call = match shut {
                Call::Commit => {
                    nfs_call(xid, commit::PROCEDURE, &commit::Arguments { node, offset: 0, count: 0 })
                }
                _ => nfs_call(xid, nfs3::access::PROCEDURE, &nfs3::access::Arguments { node, wanted: 1 }),
            };
            send_datagram(&socket, &call);
        }
        stream.write_all(&getattr_call(FLOOD, &file)).expect("sending");
        arrived(&stream);
        gate.passed.lock().clear();
        gate.open();
        assert_eq!(next_xid(&mut stream), FLOOD);
        let passed = gate.passed.lock();
        let at = passed.iter().position(|call| *call == Call::Attributes).expect("the other's call");
        assert!(at <= most, "behind {at} calls {shut:?}");
    }
}

#[test]
fn a_server_that_is_to_stop_takes_no_more_datagrams() {
    let gate = Gate::around(MemoryFileSystem::new(), Call::Commit);
    let (server, address) = serve(gate.clone());
    let file = make_file(&server, address, 0);
    let arguments = commit::Arguments { node: FileHandle(&file), offset: 0, count: 0 };
    let mut stream = connect(address);
    // Answered one after the other, so that the one that hangs was taken up.
    let hung = nfs_call(1, commit::PROCEDURE, &arguments);
    stream.write_all(&[getattr_call(0, &file), hung].concat()).expect("sending");
    assert_eq!(next_xid(&mut stream), 0);
    let socket = datagrams_to(address);
    socket.set_read_timeout(Some(Duration::from_millis(200))).expect("a timeout");
    std::thread::scope(|scope| {
        let stopped = scope.spawn(|| server.stop(2 * PATIENCE));
        let (started, call) = (Instant::now(), getattr_call(2, &file));
        let is_answered = || {
            send_datagram(&socket, &call);
            socket.recv(&mut [0; 1024]).is_ok()
        };
        let mut answered = true;
        while answered && started.elapsed() < PATIENCE {
            answered = is_answered();
        }
        gate.open();
        assert!(stopped.join().expect("no panic"), "what ran was finished");
        assert!(!answered, "it still answers");
    });
}

#[test]
fn a_server_that_stops_sees_its_replies_arrive() {
    const SIZE: u32 = 64 << 10;
    let (server, address) = serve(Arc::new(MemoryFileSystem::new()));
    let file = make_file(&server, address, SIZE.into());
    // A small window: most of the reply waits in the kernel, which counts as sent.
    let mut stream = with_a_small_window(address);
    let arguments = nfs3::read::Arguments { node: FileHandle(&file), offset: 0, count: SIZE };
    stream.write_all(&nfs_call(1, nfs3::read::PROCEDURE, &arguments)).expect("sending");
    stream.peek(&mut [0]).expect("the beginning of a reply");
    std::thread::scope(|scope| {
        let stopped = scope.spawn(|| server.stop(2 * PATIENCE));
        let socket = datagrams_to(address);
        socket.set_read_timeout(Some(Duration::from_millis(200))).expect("a timeout");
        let (started, call) = (Instant::now(), getattr_call(2, &file));
        let is_answered = || {
            // Refused, once nobody is there.
            socket.send(&call[RecordMark::SIZE..]).is_ok() && socket.recv(&mut [0; 1024]).is_ok()
        };
        while is_answered() {
            assert!(started.elapsed() < PATIENCE, "it never stops");
        }
        // A call that it does not take up any more: to close the connection now would cut the reply off.
        stream.write_all(&getattr_call(3, &file)).expect("sending");
        assert_eq!(next_xid(&mut stream), 1);
        assert!(stopped.join().expect("no panic"), "all is done");
    });
}

#[test]
fn a_bulk_write_that_comes_in_pieces_is_answered_and_so_is_what_follows() {
    const LENGTH: usize = 256 << 10;
    let directory = tempfile::tempdir().expect("a directory");
    let (server, address) =
        serve(Arc::new(LocalFileSystem::open(directory.path(), Options::default()).expect("opening it")));
    let file = make_file(&server, address, 0);
    let (mut stream, mut other) = (connect(address), connect(address));
    let call = bulk_write_call(1, &file, LENGTH);
    for cut in [4, 100, 132, 133, 200, 5_000, 64 << 10, LENGTH / 2, call.len() - 1] {
        stream.write_all(&call[..cut]).expect("sending");
        // The server has seen the first piece by the time that it has answered somebody else, or soon after: either
        // way the second piece must find it awake.
        other.write_all(&getattr_call(2, &file)).expect("sending");
        assert_eq!(next_xid(&mut other), 2);
        stream.write_all(&call[cut..]).expect("sending");
        assert_eq!(next_xid(&mut stream), 1, "cut at {cut}");
        stream.write_all(&getattr_call(3, &file)).expect("sending");
        assert_eq!(next_xid(&mut stream), 3, "after the call that was cut at {cut}");
    }
    assert_eq!(std::fs::read(directory.path().join("file")).expect("the file"), [7; LENGTH]);
}
