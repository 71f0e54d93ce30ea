//! TLS on connections: asked for or begun at once, judged by export, and what peers get who mean harm.

#![allow(clippy::unwrap_used)]

mod common;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::secured::{self, Certificates, PATIENCE, receive, send};
use common::{call, make_file, nfs_call, root};
use howdah_net::Connection;
use howdah_server::exports::{ClientRule, Export, Exports, Squash, TlsPolicy};
use howdah_server::{Server, Settings, Sockets};
use howdah_tls::ClientTls;
use howdah_vfs::memory::MemoryFileSystem;
use howdah_wire::nfs3::{self, FileHandle, getattr, read, write};
use howdah_wire::rpc::{
    Accepted, AuthStatus, CallHeader, Credentials, Denied, RecordMark, ReplyHeader, TlsAnswer, TlsProbe,
};
use howdah_wire::xdr::{Decode, Decoder, Encoder};

/// A server with TLS, and what its clients need.
struct Site {
    certificates: Certificates,
    server: Server,
    address: SocketAddr,
}

impl Site {
    /// Its one export takes what this policy takes.
    fn new(policy: TlsPolicy) -> Self {
        let certificates = Certificates::new();
        let settings = Settings { workers: 4, tls: Some(certificates.server()), ..Settings::default() };
        let sockets = Sockets::bind(&["127.0.0.1:0".parse().unwrap()], false).unwrap();
        let rule = ClientRule { squash: Squash::None, ..ClientRule::default() };
        let export = Export::new("/", 1, Arc::new(MemoryFileSystem::new()), vec![rule]).with_tls(policy);
        let server = Server::start(&settings, sockets, Exports::new(vec![export], [7; 16]).unwrap()).unwrap();
        let address = server.addresses()[0].1;
        Self { certificates, server, address }
    }

    fn client(&self, with_certificate: bool) -> ClientTls {
        self.certificates.client(with_certificate)
    }

    fn connect(&self) -> Connection {
        secured::connect(self.address)
    }

    /// A connection that is TLS from its first byte.
    fn secured(&self, with_certificate: bool) -> Connection {
        self.certificates.connect(self.address, with_certificate)
    }
}

/// Handshakes that many hosts begin and never end. `HOWDAH_HALF_OPEN=10000` makes as many: that takes 20,100 descriptors.
const HALF_OPEN: &str = "HOWDAH_HALF_OPEN";

/// A connection of another host: all of 127.0.0.0/8 are this one.
fn from_host(number: usize, to: SocketAddr) -> TcpStream {
    let [low, high] = [number % 250 + 1, number / 250].map(|part| u8::try_from(part).unwrap());
    let family = rustix::net::AddressFamily::INET;
    let socket = rustix::net::socket(family, rustix::net::SocketType::STREAM, None).unwrap();
    rustix::net::bind(&socket, &SocketAddr::from(([127, 9, high, low], 0))).unwrap();
    rustix::net::connect(&socket, &to).unwrap();
    TcpStream::from(socket)
}

/// Bytes of memory that this process has.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * rustix::param::page_size()
}

#[test]
fn handshakes_of_many_hosts_hold_bounded_memory_and_others_are_served() {
    const EACH: usize = 16 << 10;
    /// What tests beside this one may take meanwhile.
    const OTHERS: usize = 128 << 20;
    let all = std::env::var(HALF_OPEN).map_or(1_200, |count| count.parse().unwrap());
    let most = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    rustix::process::setrlimit(
        rustix::process::Resource::Nofile,
        rustix::process::Rlimit { current: most.maximum, ..most },
    )
    .unwrap();
    let site = Site::new(TlsPolicy::Offered);
    let friend = site.secured(false);
    let null = nfs_call(1, 0, &());
    let before = resident();
    // Half of a ClientHello: it never ends.
    let hello = {
        let mut session = site.client(false).session().unwrap();
        let hello = std::mem::take(session.outgoing());
        hello[..hello.len() / 2].to_vec()
    };
    let mut half_open = Vec::new();
    for number in 0..all {
        let mut stream = from_host(number % 10_000 / 4, site.address);
        let _ = stream.write_all(&hello);
        half_open.push(stream);
        if number % 100 == 0 {
            assert_eq!(ask(&friend, &null).0, Ok(Accepted::Success), "beside {number}");
            assert_eq!(ask(&site.connect(), &null).0, Ok(Accepted::Success), "in the clear beside {number}");
        }
    }
    let held = resident().saturating_sub(before);
    assert!(held < OTHERS + all * EACH, "{held} bytes for {all} handshakes");
    assert_eq!(ask(&friend, &null).0, Ok(Accepted::Success));
}

/// Sends what there is of it, however little the socket takes at a time.
/// How a call ended, and its result.
fn ask(connection: &Connection, call: &[u8]) -> (Result<Accepted, Denied>, Vec<u8>) {
    send(connection, call);
    let record = receive(connection);
    let mut decoder = Decoder::new(&record);
    let header = ReplyHeader::decode(&mut decoder).unwrap();
    (header.outcome, decoder.rest().to_vec())
}

fn probe(xid: u32) -> Vec<u8> {
    let credentials = Credentials::Tls(TlsProbe::Plain);
    let call = CallHeader { xid, program: nfs3::PROGRAM, version: nfs3::VERSION, procedure: 0, credentials };
    let call = Encoder::to_vec(&call);
    let mark = RecordMark { length: call.len() as u32, last: true };
    [&mark.to_bytes()[..], &call].concat()
}

/// Asks for TLS, and begins it.
fn start(site: &Site, with_certificate: bool) -> Connection {
    let connection = site.connect();
    send(&connection, &probe(9));
    let answer = receive(&connection);
    assert_eq!(TlsAnswer::decode(&mut Decoder::new(&answer)), Ok(TlsAnswer::Begins { xid: 9 }));
    let session = site.client(with_certificate).session().unwrap();
    connection.secure(session, Instant::now() + PATIENCE).unwrap()
}

fn denied(status: AuthStatus) -> Result<Accepted, Denied> {
    Err(Denied::Authentication(status))
}

#[test]
fn a_client_that_asks_for_tls_has_it_and_asks_no_second_time() {
    let site = Site::new(TlsPolicy::Offered);
    let connection = start(&site, false);
    let null = nfs_call(1, 0, &());
    assert_eq!(ask(&connection, &null).0, Ok(Accepted::Success));
    assert_eq!(ask(&connection, &probe(2)).0, denied(AuthStatus::BadCredentials), "TLS in TLS");
    assert_eq!(ask(&connection, &null).0, Ok(Accepted::Success), "the connection goes on");
}

#[test]
fn questions_for_tls_that_are_none_are_refused() {
    let site = Site::new(TlsPolicy::Offered);
    let ask = |words: &[u32]| {
        let message: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        let mark = RecordMark { length: message.len() as u32, last: true };
        ask(&site.connect(), &[&mark.to_bytes()[..], &message].concat()).0
    };
    let nfs = nfs3::PROGRAM;
    assert_eq!(ask(&[1, 0, 2, nfs, 3, 0, 7, 4, 9, 0, 0]), denied(AuthStatus::BadCredentials), "with a body");
    assert_eq!(ask(&[1, 0, 2, nfs, 3, 0, 7, 0, 0, 4, 9]), denied(AuthStatus::BadVerifier), "with a verifier");
    assert_eq!(ask(&[1, 0, 2, nfs, 3, 1, 7, 0, 0, 0]), denied(AuthStatus::BadCredentials), "not NULL");
    assert_eq!(ask(&[1, 0, 2, nfs, 3, 0, 7, 0, 0, 0, 5]), Ok(Accepted::GarbageArguments), "with arguments");
    assert_eq!(ask(&[1, 0, 2, 99, 3, 0, 7, 0, 0, 0]), Ok(Accepted::ProgramUnavailable));
}

#[test]
fn a_server_without_a_certificate_refuses_tls() {
    let (server, address) = common::serve_memory();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(&probe(1)).unwrap();
    let answer = common::read_record(&mut stream);
    let header = ReplyHeader::decode(&mut Decoder::new(&answer)).unwrap();
    assert_eq!(header.outcome, denied(AuthStatus::TooWeak));
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(&[0x16, 3, 1, 0, 5]).unwrap();
    assert_eq!(stream.read(&mut [0]).unwrap_or(0), 0, "closed");
    drop(server);
}

#[test]
fn bytes_behind_the_question_for_tls_are_not_believed() {
    let site = Site::new(TlsPolicy::Offered);
    let mut stream = TcpStream::connect(site.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(&[&probe(1)[..], &nfs_call(2, 0, &())].concat()).unwrap();
    assert_eq!(stream.read(&mut [0; 100]).unwrap_or(0), 0, "closed without an answer");
    // So is a question that comes before the answers to earlier calls are out.
    let mut stream = TcpStream::connect(site.address).unwrap();
    stream.write_all(&[&nfs_call(2, 0, &())[..], &probe(1), &[0x16]].concat()).unwrap();
    let mut all = Vec::new();
    let _ = stream.read_to_end(&mut all);
    assert!(!all.windows(8).any(|word| word == b"STARTTLS"));
}

#[test]
fn what_an_export_requires_is_required_of_nfs_and_not_of_mount() {
    use howdah_wire::mount::{self, DirectoryPath, mnt};
    let kinds = |site: &Site| {
        [site.connect(), site.secured(false), start(site, false), site.secured(true), start(site, true)]
    };
    let (weak, well) = (denied(AuthStatus::TooWeak), Ok(Accepted::Success));
    for (policy, wanted) in [
        (TlsPolicy::Offered, [well, well, well, well, well]),
        (TlsPolicy::Required, [weak, well, well, well, well]),
        (TlsPolicy::ClientCertificate, [weak, weak, weak, well, well]),
        (TlsPolicy::Off, [well, weak, weak, weak, weak]),
    ] {
        let site = Site::new(policy);
        let root = root(&site.server);
        let asks = nfs_call(1, getattr::PROCEDURE, &getattr::Arguments { node: FileHandle(&root) });
        let path = mnt::Arguments { path: DirectoryPath(b"/") };
        let mounts = call(2, mount::PROGRAM, mount::VERSION_3, mnt::PROCEDURE, &path);
        for (kind, (connection, wanted)) in kinds(&site).iter().zip(wanted).enumerate() {
            assert_eq!(ask(connection, &asks).0, wanted, "{policy:?}, connection {kind}");
            let (outcome, result) = ask(connection, &mounts);
            assert_eq!((outcome, &result[..4]), (well, &[0; 4][..]), "{policy:?}, connection {kind}: MOUNT");
            assert_eq!(ask(connection, &nfs_call(3, 0, &())).0, well, "NULL");
        }
    }
}

#[test]
fn much_data_goes_both_ways() {
    let site = Site::new(TlsPolicy::Offered);
    let file = make_file(&site.server, site.address, 0);
    let connection = site.secured(false);
    let data: Vec<u8> = (0..1 << 20_u32).map(|at| (at % 251) as u8).collect();
    let node = FileHandle(&file);
    // Many calls at once, in both directions: neither side may wait for the other.
    const CALLS: u32 = 24;
    let writes = |xid: u32| {
        let (offset, count) = (u64::from(xid) << 20, data.len() as u32);
        let stability = write::Stability::Unstable;
        nfs_call(xid, write::PROCEDURE, &write::Arguments { node, offset, count, stability, data: &data })
    };
    for xid in 0..CALLS {
        send(&connection, &writes(xid));
    }
    for _ in 0..CALLS {
        assert_eq!(&receive(&connection)[24..28], [0; 4], "written");
    }
    for xid in 0..CALLS {
        let arguments = read::Arguments { node, offset: u64::from(xid) << 20, count: data.len() as u32 };
        send(&connection, &nfs_call(xid, read::PROCEDURE, &arguments));
    }
    // Nobody takes the answers for a while: they wait sealed in part.
    for _ in 0..CALLS {
        let record = receive(&connection);
        assert!(record.ends_with(&data), "{} bytes", record.len());
    }
}

#[test]
fn one_byte_at_a_time_is_served_all_the_same() {
    let site = Site::new(TlsPolicy::Required);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let front = listener.local_addr().unwrap();
    // What passes the relay comes byte by byte.
    let to = site.address;
    let relay = std::thread::spawn(move || {
        let (client, _) = listener.accept().unwrap();
        let server = TcpStream::connect(to).unwrap();
        server.set_nodelay(true).unwrap();
        let (mut back_from, mut back_to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
        let back = std::thread::spawn(move || std::io::copy(&mut back_from, &mut back_to));
        let (mut client, mut server) = (client, server);
        let mut byte = [0];
        while client.read(&mut byte).is_ok_and(|count| count > 0) && server.write_all(&byte).is_ok() {}
        let _ = server.shutdown(std::net::Shutdown::Both);
        let _ = back.join();
    });
    let connection = secured::connect(front);
    let session = site.client(true).session().unwrap();
    let connection = connection.secure(session, Instant::now() + PATIENCE).unwrap();
    let root = root(&site.server);
    let asks = nfs_call(1, getattr::PROCEDURE, &getattr::Arguments { node: FileHandle(&root) });
    assert_eq!(ask(&connection, &asks).0, Ok(Accepted::Success));
    connection.shut_down();
    relay.join().unwrap();
}

#[test]
fn handshakes_that_never_end_leave_others_alone() {
    let site = Site::new(TlsPolicy::Offered);
    // As many as one client may have, and some.
    let half_open: Vec<TcpStream> = (0..200)
        .map(|_| {
            let mut stream = TcpStream::connect(site.address).unwrap();
            stream.write_all(&[0x16, 3, 1, 2]).unwrap();
            stream
        })
        .collect();
    // In the clear, calls of the same client are answered meanwhile.
    assert_eq!(ask(&site.connect(), &nfs_call(1, 0, &())).0, Ok(Accepted::Success));
    let is_closed = |stream: &&TcpStream| {
        stream.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        let mut stream: &TcpStream = stream;
        stream.read(&mut [0]).is_ok_and(|count| count == 0)
    };
    let beyond = half_open.len() - howdah_server::limits::HANDSHAKES_OF_ONE_MAX;
    let deadline = Instant::now() + PATIENCE;
    while half_open.iter().filter(is_closed).count() < beyond {
        assert!(Instant::now() < deadline, "those beyond its part are never closed");
    }
    drop(half_open);
    // Their places are free again once they are gone.
    let deadline = Instant::now() + PATIENCE;
    let again = || {
        let session = site.client(false).session().unwrap();
        site.connect().secure(session, Instant::now() + PATIENCE)
    };
    while again().is_err() {
        assert!(Instant::now() < deadline, "the places are never freed");
    }
}

#[test]
fn what_is_changed_on_the_way_ends_the_connection() {
    let site = Site::new(TlsPolicy::Offered);
    let mut stream = TcpStream::connect(site.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut session = site.client(false).session().unwrap();
    let hello = std::mem::take(session.outgoing());
    stream.write_all(&hello).unwrap();
    // The server's flight comes; a record of nonsense goes back.
    let mut flight = [0; 16];
    stream.read_exact(&mut flight).unwrap();
    stream.write_all(&[&[0x17, 3, 3, 0, 40][..], &[9; 40]].concat()).unwrap();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
}
