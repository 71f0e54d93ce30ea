//! The client over QUIC: everything that works over TCP, restarts of the server, and refusals that say what to do.

use std::io::IoSlice;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use howdah_client::Remote;
use howdah_client::connect::{ConnectOptions, connect};
use howdah_client::url::NfsUrl;
use howdah_net::{ConnectSettings, EngineSecret, QuicDialer, QuicListener, QuicPort};
use howdah_server::exports::{ClientRule, Clients, Export, Exports, Squash, TlsPolicy};
use howdah_server::states::StateOptions;
use howdah_server::{Server, Service, Settings, Sockets};
use howdah_tls::{Authority, CertificatePurpose, ClientFiles, ClientTls, ServerFiles, ServerTls};
use howdah_vfs::conformance::operations::run_operations;
use howdah_vfs::conformance::{self, Abilities, Subject};
use howdah_vfs::{
    Caller, Change, Create, CreateFile, Data, FileSystem, FsError, Name, NewAttributes, ReadFile, Stability,
    WriteFile,
};

use crate::nat::Nat;
use crate::served::{EXPORT, memory};

const DAY: Duration = Duration::from_secs(86_400);
const ME: Caller = Caller::ROOT;
/// Lists of operations, and how long each is.
const LISTS: u64 = 5;
const OPERATIONS: usize = 300;
/// More streams than a connection may have at a time.
const CUTS: usize = 40;
const PATIENCE: Duration = Duration::from_secs(20);

/// The files of a server, and of clients, and an authority that both trust.
struct Site {
    home: tempfile::TempDir,
    files: Arc<dyn FileSystem>,
    policy: TlsPolicy,
    rules: Vec<ClientRule>,
}

impl Site {
    fn new(policy: TlsPolicy) -> Self {
        let rules = vec![ClientRule { squash: Squash::None, ..ClientRule::default() }];
        let site = Self { home: tempfile::tempdir().expect("a directory"), files: memory(), policy, rules };
        let (authority, made) = Authority::new("test", DAY).expect("an authority");
        site.write("ca.pem", made.certificate.as_ref());
        let holders = [
            ("server", CertificatePurpose::Server, "127.0.0.1"),
            ("client", CertificatePurpose::Client, "client.test"),
        ];
        for (file, purpose, name) in holders {
            site.issue(&authority, file, purpose, name);
        }
        let (foreign, made) = Authority::new("foreign", DAY).expect("an authority");
        site.write("foreign.pem", made.certificate.as_ref());
        site.issue(&foreign, "stranger", CertificatePurpose::Client, "client.test");
        site
    }

    fn issue(&self, authority: &Authority, file: &str, purpose: CertificatePurpose, name: &str) {
        let made = authority.issue(purpose, &[name.to_owned()], DAY).expect("issued");
        self.write(&format!("{file}.pem"), made.certificate.as_ref());
        self.write(&format!("{file}.key"), made.key.as_ref());
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn write(&self, name: &str, text: &[u8]) {
        std::fs::write(self.path(name), text).expect("written");
    }

    fn tls(&self) -> ServerTls {
        let files = ServerFiles {
            certificate: self.path("server.pem"),
            key: self.path("server.key"),
            authorities: vec![self.path("ca.pem")],
            revocations: Vec::new(),
        };
        ServerTls::read(&files).expect("good files")
    }

    /// Serves by QUIC at this address; port 0 is a free one.
    fn serve(&self, address: SocketAddr) -> (Server, SocketAddr) {
        let tls = self.tls();
        let export =
            Export::new(EXPORT, 1, Arc::clone(&self.files), self.rules.clone()).with_tls(self.policy);
        let exports = Exports::new(vec![export], [7; 16]).expect("one export");
        let mut sockets = Sockets::bind(&[any()], false).expect("a free port");
        sockets.bind_quic(&[address], &tls).expect("a free port");
        let service = Service::with(exports, Some(StateOptions::forgetful()), Vec::new());
        let settings = Settings { workers: 4, tls: Some(tls), ..Settings::default() };
        let server = Server::start_service(&settings, sockets, service).expect("a server");
        let address = server.addresses().last().expect("QUIC").1;
        (server, address)
    }

    /// A URL of the export, with files by their names in the place of `@`.
    fn url(&self, address: SocketAddr, query: &str) -> NfsUrl {
        let query = query.replace('@', &format!("{}/", self.home.path().display()));
        format!("nfs://{address}{EXPORT}?proto=quic&{query}").parse().expect("a URL")
    }

    fn client(&self, address: SocketAddr, query: &str) -> Arc<dyn Remote> {
        connect(&self.url(address, query), &options()).unwrap_or_else(|error| panic!("{error}"))
    }

    fn refused(&self, address: SocketAddr, query: &str) -> String {
        let outcome = connect(&self.url(address, query), &options());
        outcome.err().unwrap_or_else(|| panic!("{query}: connected")).to_string()
    }
}

fn any() -> SocketAddr {
    "127.0.0.1:0".parse().expect("an address")
}

fn options() -> ConnectOptions {
    ConnectOptions::default()
}

const TLS: &str = "tlsca=@ca.pem";
const MUTUAL: &str = "tlsca=@ca.pem&tlscert=@client.pem&tlskey=@client.key";

fn conforms(version: &str) {
    let site = Site::new(TlsPolicy::Required);
    let (_server, address) = site.serve(any());
    let subject = || {
        let client = site.client(address, &format!("{TLS}&version={version}"));
        Subject::new(client, Abilities { many_entries: 2_000, ..Abilities::default() })
    };
    let report = conformance::run(&subject);
    assert!(report.is_success(), "{report}");
    for seed in 0..LISTS {
        run_operations(seed, OPERATIONS, &subject).unwrap_or_else(|difference| panic!("{difference}"));
    }
}

#[test]
fn nfs3_conforms() {
    conforms("3");
}

#[test]
fn nfs4_conforms() {
    conforms("4.1");
}

#[test]
fn a_large_file_comes_back_as_it_was() {
    let site = Site::new(TlsPolicy::Required);
    let (_server, address) = site.serve(any());
    for version in ["3", "4.2"] {
        let client = site.client(address, &format!("{TLS}&version={version}"));
        let data: Vec<u8> = (0..32_u32 << 20).map(|at| (at ^ (at >> 11)) as u8).collect();
        let name = Name::parse(version.as_bytes()).expect("a name");
        let how = Create::Guarded(NewAttributes::with_mode(0o600));
        let change = &mut Change::default();
        let file =
            client.create(&ME, CreateFile::new(&client.root(), name, &how), change).expect("made").handle;
        for (piece, bytes) in (0_u64..).zip(data.chunks(1 << 20)) {
            let write = WriteFile::new(&file, piece << 20, Data::Bytes(bytes), Stability::Unstable);
            assert_eq!(client.write(&ME, write, change).expect("written").count, bytes.len());
        }
        let mut read = Vec::new();
        for piece in 0..32_u64 {
            client.read(&ME, ReadFile::new(&file, piece << 20, 1 << 20), &mut read).expect("read");
        }
        assert!(read == data, "NFSv{version}");
        let report = client.channel().report();
        assert!(report.tls.is_some());
        let quic = report.quic.expect("its connection").to_string();
        assert!(quic.starts_with("QUIC: round trip ") && quic.contains(" sent were lost"), "{quic}");
    }
}

#[test]
fn a_client_certificate_is_seen_and_a_strange_one_refused() {
    let site = Site::new(TlsPolicy::ClientCertificate);
    let (_server, address) = site.serve(any());
    let client = site.client(address, MUTUAL);
    assert!(client.attributes(&ME, &client.root()).is_ok());
    let said = site.refused(address, TLS);
    assert!(said.contains("xprtsec=mtls"), "{said}");
    let said = site.refused(address, "tlsca=@foreign.pem");
    assert!(said.contains("tlsca=FILE names the server's authority"), "{said}");
    let said = site.refused(address, "tlsca=@ca.pem&tlscert=@stranger.pem&tlskey=@stranger.key");
    assert!(said.contains("that the server trusts"), "{said}");
}

/// A port that only accepts.
fn listener(site: &Site) -> QuicListener {
    let port = QuicPort::bind(any(), site.tls()).expect("a free port");
    port.serve(EngineSecret([7; 32])).expect("a thread")
}

fn dialer(site: &Site) -> (QuicDialer, ConnectSettings) {
    let files = ClientFiles { authorities: Some(site.path("ca.pem")), ..ClientFiles::default() };
    let dialer = QuicDialer::new(ClientTls::read(&files, "127.0.0.1").expect("good files"));
    let (timeout, silence, tick) = (PATIENCE, PATIENCE, PATIENCE);
    let settings = ConnectSettings { timeout, silence, reserved_port: false, from: None, tick, window: None };
    (dialer, settings)
}

#[test]
fn streams_that_a_server_cuts_leave_room_for_others() {
    let site = Site::new(TlsPolicy::Required);
    let (listener, (dialer, settings)) = (listener(&site), dialer(&site));
    let some = || [IoSlice::new(&[7; 1000])];
    for number in 0..CUTS {
        let began = Instant::now();
        let mut connection = dialer.open(listener.address(), &settings).expect("a stream");
        // A stream has no place until the server has heard that one before it is over: then sending fails.
        let accepted = loop {
            assert!(began.elapsed() < PATIENCE, "no place for stream {number}");
            if connection.send(&some(), false).is_err() {
                connection = dialer.open(listener.address(), &settings).expect("a stream");
            }
            if let Some(accepted) = listener.accept() {
                break accepted;
            }
            thread::sleep(Duration::from_millis(1));
        };
        // The server reads nothing more, and the client sends until it hears of it.
        accepted.cut();
        drop(accepted);
        while connection.send(&some(), false).is_ok() {
            assert!(began.elapsed() < PATIENCE, "nothing says that stream {number} is over");
            thread::sleep(Duration::from_millis(1));
        }
    }
}

#[test]
fn silence_names_what_to_type() {
    let site = Site::new(TlsPolicy::Offered);
    // Nobody answers there.
    let silent = UdpSocket::bind(any()).expect("a free port");
    let address = silent.local_addr().expect("bound");
    let short = ConnectOptions { patience: Duration::from_millis(300), ..options() };
    let error = connect(&site.url(address, TLS), &short).err().expect("nobody is there").to_string();
    assert!(error.contains("UDP is blocked") && error.contains("proto=tcp uses TCP"), "{error}");
}

/// Makes a file, writes it, reads it, removes it.
fn round(client: &dyn Remote, thread: usize, round: usize) {
    let text = format!("file-{thread}-{round}");
    let (name, root) = (Name::parse(text.as_bytes()).expect("a name"), client.root());
    let data: Vec<u8> = (0..100_000_usize).map(|at| (at * 13 + thread * 101 + round * 7) as u8).collect();
    let how = Create::Guarded(NewAttributes::with_mode(0o600));
    let change = &mut Change::default();
    // It may have been made before the server was killed: then the second run finds it.
    let file = client.create(&ME, CreateFile::new(&root, name, &how), change);
    let file =
        file.or_else(|_| client.lookup(&ME, &root, name).map(|found| found.node)).expect("made").handle;
    let write = WriteFile::new(&file, 0, Data::Bytes(&data), Stability::FileSync);
    assert_eq!(client.write(&ME, write, change).expect("written").count, data.len());
    let mut read = Vec::new();
    client.read(&ME, ReadFile::new(&file, 0, data.len()), &mut read).expect("read");
    assert!(read == data, "{text}");
    // The answer may have been lost with the server, too.
    let _ = client.remove(&ME, &root, name, change);
    assert!(client.lookup(&ME, &root, name).is_err());
}

#[test]
fn nothing_is_lost_when_the_server_restarts() {
    for version in ["3", "4.1"] {
        let site = Site::new(TlsPolicy::Required);
        let (first, address) = site.serve(any());
        let client = site.client(address, &format!("{TLS}&version={version}"));
        let mut served = Some(first);
        let (over, rounds) = (AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|scope| {
            for thread in 0..4 {
                let (client, over, rounds) = (&client, &over, &rounds);
                scope.spawn(move || {
                    for number in 0.. {
                        round(&**client, thread, number);
                        rounds.fetch_add(1, Ordering::SeqCst);
                        if over.load(Ordering::SeqCst) {
                            return;
                        }
                    }
                });
            }
            for restart in 1..=3 {
                while rounds.load(Ordering::SeqCst) < restart * 24 {
                    thread::yield_now();
                }
                drop(served.take());
                served = Some(site.serve(address).0);
            }
            over.store(true, Ordering::SeqCst);
        });
    }
}

#[test]
fn a_client_that_moves_has_the_rights_of_its_new_address() {
    let home = |last: u8| IpAddr::from([127, 0, 0, last]);
    let rule = |addresses: &[u8], read_only| ClientRule {
        clients: Clients::Addresses(addresses.iter().map(|last| home(*last)).collect()),
        squash: Squash::None,
        read_only,
        ..ClientRule::default()
    };
    let rules = vec![rule(&[2, 3], false), rule(&[5], true)];
    for version in ["3", "4.1"] {
        let site = Site { rules: rules.clone(), ..Site::new(TlsPolicy::Required) };
        let (server, address) = site.serve(any());
        let nat = Nat::new(address, home(2));
        let client = site.client(nat.address(), &format!("{TLS}&version={version}"));
        let (root, how) = (client.root(), Create::Guarded(NewAttributes::with_mode(0o600)));
        let make = |text: &str| {
            let name = Name::parse(text.as_bytes()).expect("a name");
            client.create(&ME, CreateFile::new(&root, name, &how), &mut Change::default()).map(drop)
        };
        let moves = || -> Vec<u64> {
            let report = server.tuning_report();
            report.connections.iter().filter_map(|one| one.quic.as_ref()).map(|quic| quic.moves).collect()
        };
        assert_eq!(make("first"), Ok(()));
        // The same rule holds there.
        nat.move_to(home(3));
        assert_eq!(make("second"), Ok(()));
        assert!(moves().iter().all(|moves| *moves == 1), "NFSv{version}: {:?}", moves());
        // None does.
        nat.move_to(home(4));
        assert_eq!(make("third").expect_err("a stranger there"), FsError::AccessDenied, "NFSv{version}");
        // Another one.
        nat.move_to(home(5));
        assert_eq!(make("fourth").expect_err("it may only read"), FsError::ReadOnly);
        assert!(client.attributes(&ME, &root).is_ok());
        nat.move_to(home(2));
        assert_eq!(make("fifth"), Ok(()));
        assert!(moves().contains(&0), "NFSv{version}: it connected again, {:?}", moves());
    }
}
