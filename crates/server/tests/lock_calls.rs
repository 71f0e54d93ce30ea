//! Calls that a server makes to clients for their locks, over sockets of loopback: a client that is a portmapper, a lock manager and a
//! status monitor of a few lines.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use howdah_server::exports::{ClientRule, Export, Exports, Squash};
use howdah_server::states::{OwnRights, StateOptions};
use howdah_server::{Server, Service, ServiceOptions, Settings, Sockets};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{Caller, Change, Create, CreateFile, FileSystem, Name, NewAttributes};
use howdah_wire::nfs3::FileHandle;
use howdah_wire::nlm::{self, CallerName, Cookie, Lock, LockOwner, Status, granted, lock, unlock};
use howdah_wire::nsm;
use howdah_wire::portmap::{self, Protocol, getport};
use howdah_wire::rpc::{Accepted, AuthSys, Call, CallHeader, Credentials, RecordMark, ReplyHeader};
use howdah_wire::xdr::{Decode, Decoder, Encode, Encoder};

const PATIENCE: Duration = Duration::from_secs(20);
/// The address that the client calls, of all that are served: it must be called back from there.
const MOUNTED: &str = "127.0.0.2";

/// A client: what answers its portmapper's port, and its lock manager or status monitor over one transport.
struct Host {
    portmapper: UdpSocket,
    udp: UdpSocket,
    tcp: TcpListener,
}

impl Host {
    fn new() -> Self {
        let udp = || UdpSocket::bind("127.0.0.1:0").expect("a free port");
        let host = Self {
            portmapper: udp(),
            udp: udp(),
            tcp: TcpListener::bind("127.0.0.1:0").expect("a free port"),
        };
        for socket in [&host.portmapper, &host.udp] {
            socket.set_read_timeout(Some(PATIENCE)).expect("a time");
        }
        host
    }

    fn port(&self) -> u16 {
        self.portmapper.local_addr().expect("bound").port()
    }

    /// Answers questions for a program's port until one is for this transport; nothing is registered for the other.
    fn tell_port(&self, program: u32, protocol: Protocol) {
        loop {
            let mut buffer = [0; 1024];
            let (length, from) = self.portmapper.recv_from(&mut buffer).expect("a question");
            assert_eq!(from.ip(), address(MOUNTED));
            let Call::Call(header, mut arguments) = Call::parse(&buffer[..length]) else { panic!("no call") };
            assert_eq!((header.program, header.procedure), (portmap::PROGRAM, getport::PROCEDURE));
            let asked = getport::Arguments::decode(&mut arguments).expect("arguments").mapping;
            assert_eq!(asked.program, program);
            let is_right = asked.protocol == protocol;
            let port = if protocol == Protocol::UDP { self.udp.local_addr() } else { self.tcp.local_addr() };
            let port = if is_right { port.expect("bound").port().into() } else { 0 };
            let answer = reply(header.xid, &getport::Reply { port });
            self.portmapper.send_to(&answer, from).expect("sent");
            if is_right {
                return;
            }
        }
    }

    /// A call in a datagram, and who made it.
    fn datagram(&self) -> (Vec<u8>, SocketAddr) {
        let mut buffer = vec![0; 4096];
        let (length, from) = self.udp.recv_from(&mut buffer).expect("a call");
        buffer.truncate(length);
        (buffer, from)
    }
}

fn address(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

fn reply(xid: u32, result: &impl Encode) -> Vec<u8> {
    let mut reply = Encoder::to_vec(&ReplyHeader { xid, outcome: Ok(Accepted::Success) });
    result.encode(&mut Encoder::new(&mut reply));
    reply
}

/// A server whose clients' portmappers listen on this port, and a handle of a file of it.
fn serve(states: StateOptions, client_portmapper: u16) -> (Server, Vec<u8>) {
    let memory = MemoryFileSystem::new();
    let name = Name::parse(b"file").expect("a name");
    let new = Create::Guarded(NewAttributes::with_mode(0o666));
    let change = &mut Change::default();
    let file = memory
        .create(&Caller::ROOT, CreateFile::new(&memory.root(), name, &new), change)
        .expect("made")
        .handle;
    let rules = vec![ClientRule { squash: Squash::None, ..ClientRule::default() }];
    let export = Export::new("/", 1, Arc::new(memory), rules);
    let exports = Exports::new(vec![export], [7; 16]).expect("exports");
    let file = exports.seal_as(1, &file).as_wire().0.to_vec();
    let options = ServiceOptions { states, client_portmapper, ..ServiceOptions::default() };
    let sockets = Sockets::bind(&["0.0.0.0:0".parse().expect("an address")], true).expect("free ports");
    let service = Service::with_options(exports, options);
    let server = Server::start_service(&Settings::default(), sockets, service).expect("started");
    (server, file)
}

/// The processes of the client.
struct Client<'s> {
    socket: UdpSocket,
    file: &'s [u8],
}

impl<'s> Client<'s> {
    fn new(server: &Server, file: &'s [u8]) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        let port = server.addresses()[0].1.port();
        socket.connect((MOUNTED, port)).expect("connected");
        socket.set_read_timeout(Some(PATIENCE)).expect("a time");
        Self { socket, file }
    }

    fn call(&self, procedure: u32, arguments: &impl Encode) -> Status {
        let credentials = Credentials::Sys(AuthSys::new(b"client", 1000, 1000, &[]));
        let (program, version) = (nlm::PROGRAM, nlm::VERSION_4);
        let mut message = Encoder::to_vec(&CallHeader { xid: 7, program, version, procedure, credentials });
        arguments.encode(&mut Encoder::new(&mut message));
        self.socket.send(&message).expect("sent");
        let mut buffer = [0; 1024];
        let length = self.socket.recv(&mut buffer).expect("an answer");
        let mut decoder = Decoder::new(&buffer[..length]);
        assert_eq!(ReplyHeader::decode(&mut decoder).expect("a reply").outcome, Ok(Accepted::Success));
        lock::Reply::decode(&mut decoder).expect("a result").status
    }

    fn lock_of(&self, process: u32) -> Lock<'s> {
        let (caller, owner) = (CallerName(b"client"), LockOwner(b"a process"));
        Lock { caller, file: FileHandle(self.file), owner, process, offset: 5, length: 0 }
    }

    fn lock(&self, process: u32, block: bool) -> Status {
        let (cookie, lock) = (Cookie(b"lock"), self.lock_of(process));
        let arguments = lock::Arguments { cookie, block, exclusive: true, lock, reclaim: false, state: 1 };
        self.call(lock::PROCEDURE, &arguments)
    }

    fn unlock(&self, process: u32) {
        let arguments = unlock::Arguments { cookie: Cookie(b"unlock"), lock: self.lock_of(process) };
        assert_eq!(self.call(unlock::PROCEDURE, &arguments), Status::Granted);
    }
}

/// Sees that a call grants process 2 its lock; answers it so.
fn answer_grant(call: &[u8], client: &Client<'_>, status: Status) -> Vec<u8> {
    let Call::Call(header, mut arguments) = Call::parse(call) else { panic!("no call") };
    let called = (header.program, header.version, header.procedure);
    assert_eq!(called, (nlm::PROGRAM, nlm::VERSION_4, granted::PROCEDURE));
    let granted = granted::Arguments::decode(&mut arguments).expect("arguments");
    assert_eq!((granted.exclusive, granted.lock), (true, client.lock_of(2)));
    reply(header.xid, &lock::Reply { cookie: granted.cookie, status })
}

#[test]
fn who_waits_is_called_over_udp_from_the_address_that_it_mounted() {
    let mut host = Host::new();
    let (server, file) = serve(StateOptions::forgetful(), host.port());
    let client = Client::new(&server, &file);
    assert_eq!(client.lock(1, false), Status::Granted);
    assert_eq!(client.lock(2, true), Status::Blocked);
    client.unlock(1);
    host.tell_port(nlm::PROGRAM, Protocol::UDP);
    let (call, from) = host.datagram();
    assert_eq!(from.ip(), address(MOUNTED));
    host.udp.send_to(&answer_grant(&call, &client, Status::Granted), from).expect("sent");
    assert_eq!(client.lock(1, false), Status::Denied);
    // The port is known now, but the lock manager was started anew, on another one.
    host.udp = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    host.udp.set_read_timeout(Some(PATIENCE)).expect("a time");
    client.unlock(2);
    assert_eq!(client.lock(1, false), Status::Granted);
    assert_eq!(client.lock(2, true), Status::Blocked);
    client.unlock(1);
    host.tell_port(nlm::PROGRAM, Protocol::UDP);
    let (call, from) = host.datagram();
    host.udp.send_to(&answer_grant(&call, &client, Status::Granted), from).expect("sent");
    // A lock that is refused goes to the next.
    client.unlock(2);
    assert_eq!(client.lock(1, false), Status::Granted);
    assert_eq!(client.lock(2, true), Status::Blocked);
    client.unlock(1);
    let (call, from) = host.datagram();
    host.udp.send_to(&answer_grant(&call, &client, Status::Denied), from).expect("sent");
    let start = std::time::Instant::now();
    while client.lock(1, false) != Status::Granted {
        assert!(start.elapsed() < PATIENCE, "the lock is not taken back");
    }
}

#[test]
fn who_listens_on_tcp_alone_is_called_there() {
    let host = Host::new();
    let (server, file) = serve(StateOptions::forgetful(), host.port());
    let client = Client::new(&server, &file);
    assert_eq!(client.lock(1, false), Status::Granted);
    assert_eq!(client.lock(2, true), Status::Blocked);
    client.unlock(1);
    host.tell_port(nlm::PROGRAM, Protocol::TCP);
    let (mut stream, from) = host.tcp.accept().expect("a connection");
    assert_eq!(from.ip(), address(MOUNTED));
    let mut mark = [0; RecordMark::SIZE];
    stream.read_exact(&mut mark).expect("a record");
    let mut call = vec![0; RecordMark::from_bytes(mark).length as usize];
    stream.read_exact(&mut call).expect("all of it");
    let answer = answer_grant(&call, &client, Status::Granted);
    let mark = RecordMark { length: answer.len() as u32, last: true };
    stream.write_all(&[&mark.to_bytes()[..], &answer].concat()).expect("sent");
    assert_eq!(client.lock(1, false), Status::Denied);
}

#[test]
fn after_a_restart_clients_that_had_locks_are_told() {
    let directory = tempfile::tempdir().expect("a directory");
    let states = || StateOptions::in_directory(directory.path(), OwnRights::always()).expect("records");
    let host = Host::new();
    let (server, file) = serve(states(), host.port());
    assert_eq!(Client::new(&server, &file).lock(1, false), Status::Granted);
    drop(server);
    let (server, file) = serve(states(), host.port());
    host.tell_port(nsm::PROGRAM, Protocol::UDP);
    let (mut names, mut sent) = (Vec::new(), 0);
    while sent < 2 {
        let (call, from) = host.datagram();
        assert_eq!(from.ip(), address(MOUNTED));
        let Call::Call(header, mut arguments) = Call::parse(&call) else { panic!("no call") };
        let called = (header.program, header.version, header.procedure);
        assert_eq!(called, (nsm::PROGRAM, nsm::VERSION, nsm::notify::PROCEDURE));
        let notify = nsm::notify::Arguments::decode(&mut arguments).expect("arguments");
        assert_eq!(notify.state, 3, "two more than in the first run");
        names.push(notify.name.0.to_vec());
        host.udp.send_to(&reply(header.xid, &()), from).expect("sent");
        sent += 1;
    }
    assert_eq!(names[0], MOUNTED.as_bytes());
    assert_eq!(Client::new(&server, &file).lock(1, false), Status::Grace);
}
