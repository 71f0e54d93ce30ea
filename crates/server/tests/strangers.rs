//! Strangers and greedy clients beside an honest NFSv4 client with an open file and a lock, in the clear and over TLS: it loses nothing, and
//! they hold bounded memory. What an honest call takes meanwhile is printed.

#![allow(clippy::print_stdout)]

mod common;

use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::nfs4::{Client, Raw, Way, step};
use common::resident;
use common::secured::Certificates;
use howdah_random::Random;
use howdah_server::exports::{CertificatePattern, ClientRule, Clients, Export, Exports, Squash};
use howdah_server::{Server, Settings, Sockets};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_wire::nfs4::{
    ClientId, SessionId, Status, destroy_clientid, destroy_session, putrootfh, sequence,
};
use parking_lot::Mutex;
use socket2::{Domain, Socket, Type};

/// Addresses that the export admits: the honest client's, and that of one that is greedy.
const HONEST: [u8; 4] = [127, 0, 0, 1];
const GREEDY: [u8; 4] = [127, 0, 0, 3];
/// Calls of each adversary.
const CALLS: usize = 4_000;
/// Memory that strangers may hold, in bytes.
const STRANGERS_MOST: usize = 64 << 20;
const SEED: u64 = 0x5eed;

/// The tests look at the memory of this process.
static ALONE: Mutex<()> = Mutex::new(());

/// A server, and the certificate that the honest client must show, if it must.
struct Site {
    _server: Server,
    address: SocketAddr,
    certificates: Option<Certificates>,
}

impl Site {
    fn new(certificates: Option<Certificates>) -> Self {
        let honest = match certificates {
            Some(_) => Clients::Certificate(CertificatePattern::Name("client.test".to_owned())),
            None => Clients::Addresses(vec![HONEST.into()]),
        };
        let rule = |clients| ClientRule { clients, squash: Squash::None, ..ClientRule::default() };
        let rules = vec![rule(honest), rule(Clients::Addresses(vec![GREEDY.into()]))];
        let export = Export::new("/", 1, Arc::new(MemoryFileSystem::new()), rules);
        let exports = Exports::new(vec![export], [7; 16]).expect("one export");
        let sockets = Sockets::bind(&["0.0.0.0:0".parse().expect("an address")], true).expect("binding");
        let tls = certificates.as_ref().map(Certificates::server);
        let settings = Settings { tls, ..Settings::default() };
        let server = Server::start(&settings, sockets, exports).expect("starting");
        let port = server.addresses()[0].1.port();
        Self { _server: server, address: SocketAddr::from((HONEST, port)), certificates }
    }

    /// A connection of the honest client.
    fn connect(&self) -> Way {
        match &self.certificates {
            Some(certificates) => certificates.connect(self.address, true).into(),
            None => from(HONEST, self.address).into(),
        }
    }
}

fn from(address: [u8; 4], to: SocketAddr) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    socket.bind(&SocketAddr::from((address, 0)).into()).expect("an address of loopback");
    socket.connect(&to.into()).expect("connected");
    TcpStream::from(socket)
}

/// Makes clients and sessions without end. How many CREATE_SESSIONs were granted.
fn flood(address: [u8; 4], to: SocketAddr) -> usize {
    let mut raw = Raw::new(from(address, to));
    let made = |number: usize| {
        let (client, sequence) = raw.exchange_id(&format!("{address:?} {number}"))?;
        raw.create_session(client, sequence, 1_024)
    };
    (0..CALLS).map(made).filter(Result::is_ok).count()
}

/// Names of a client and of its session.
type Names = (ClientId, SessionId);

/// The names that a greedy client was given.
fn own_names(to: SocketAddr) -> Names {
    let mut raw = Raw::new(from(GREEDY, to));
    let (client, sequence) = raw.exchange_id("one that guesses").expect("admitted");
    (client, raw.create_session(client, sequence, 8).expect("admitted"))
}

/// Guesses names of clients and sessions around those of one client.
fn guess(address: [u8; 4], to: SocketAddr, near: Names, seed: u64) {
    let mut raw = Raw::new(from(address, to));
    let mut random = Random::new(seed);
    for number in 1..=CALLS as u64 {
        let (ClientId(client), SessionId(mut name)) = near;
        let client =
            ClientId(client ^ if number % 2 == 0 { number } else { random.number() & 0xffff_ffff | 1 });
        // Never its own: each byte may differ, and one does.
        name[random.number() as usize % name.len()] ^= 1 << (number % 8);
        if number % 2 == 0 {
            name[8..].copy_from_slice(&random.number().to_be_bytes());
        }
        let session = SessionId(name);
        assert!(raw.create_session(client, 1, 8).is_err(), "seed {seed:#x}");
        let destroy = destroy_clientid::Arguments { client };
        assert_ne!(raw.status(&[step(destroy_clientid::OPERATION, &destroy)]), Status::OK, "seed {seed:#x}");
        let destroy = destroy_session::Arguments { session };
        let ends = raw.status(&[step(destroy_session::OPERATION, &destroy)]);
        assert_eq!(ends, Status::BADSESSION, "seed {seed:#x}");
        let arguments = sequence::Arguments { session, sequence: 1, slot: 0, highest_slot: 0, keep: false };
        let root = putrootfh::OPERATION.to_be_bytes().to_vec();
        let calls = raw.status(&[step(sequence::OPERATION, &arguments), root]);
        assert_eq!(calls, Status::BADSESSION, "seed {seed:#x}");
    }
}

/// Calls of an honest client until it is stopped, sorted by what they took.
fn honest_calls(client: &mut Client, goes_on: impl Fn(usize) -> bool) -> Vec<Duration> {
    let root = putrootfh::OPERATION.to_be_bytes().to_vec();
    let mut took = Vec::new();
    while goes_on(took.len()) {
        let start = Instant::now();
        assert_eq!(client.call(std::slice::from_ref(&root)).0, Status::OK);
        took.push(start.elapsed());
    }
    took.sort_unstable();
    took
}

fn p99(took: &[Duration]) -> Duration {
    took[took.len() * 99 / 100]
}

#[test]
fn an_honest_client_keeps_all_it_has_beside_strangers_and_greedy_clients() {
    honest_beside_adversaries(&Site::new(None));
}

#[test]
fn an_honest_client_with_a_certificate_keeps_all_it_has_beside_those_without() {
    let site = Site::new(Some(Certificates::new()));
    honest_beside_adversaries(&site);
    // Its own address is a stranger's without the certificate.
    assert_eq!(flood(HONEST, site.address), 0);
}

fn honest_beside_adversaries(site: &Site) {
    let _alone = ALONE.lock();
    let address = site.address;
    let mut honest = Client::new(site.connect(), "honest");
    let file = honest.open("file");
    assert_eq!(honest.lock(&file, (0, 10)), Status::OK);
    let alone = honest_calls(&mut honest, |calls| calls < CALLS);

    // Strangers: no export admits them, and nothing is kept for them.
    let before = resident();
    let strangers: Vec<usize> = thread::scope(|scope| {
        let each = [4, 5, 6].map(|last| scope.spawn(move || flood([127, 0, 0, last], address)));
        each.map(|one| one.join().expect("no panic")).into()
    });
    assert_eq!(strangers, [0, 0, 0]);
    let grown = resident().saturating_sub(before);
    assert!(grown < STRANGERS_MOST, "{grown} bytes for strangers");

    let stops = AtomicBool::new(false);
    let names = own_names(address);
    let beside = thread::scope(|scope| {
        let others = [
            scope.spawn(|| {
                flood(GREEDY, address);
            }),
            scope.spawn(|| guess(GREEDY, address, names, SEED)),
            scope.spawn(|| guess([127, 0, 0, 4], address, names, SEED + 1)),
        ];
        let beside = scope.spawn(|| honest_calls(&mut honest, |_| !stops.load(Ordering::Relaxed)));
        for other in others {
            other.join().expect("no panic");
        }
        stops.store(true, Ordering::Relaxed);
        beside.join().expect("no panic")
    });
    println!(
        "{grown} bytes for strangers; p99 of an honest call: {:?} alone, {:?} beside adversaries",
        p99(&alone),
        p99(&beside)
    );
    // It has its file and its lock, and a new client gets neither.
    let mut other = Client::new(site.connect(), "other");
    let same = other.open("file");
    assert_eq!(other.lock(&same, (5, 1)), Status::DENIED);
    assert_eq!(honest.lock(&file, (20, 10)), Status::OK);
}
