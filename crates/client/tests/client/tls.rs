//! The client over TLS: everything that works in the clear, every connection secured, and nothing in the clear where that fails.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use howdah_client::connect::{ConnectOptions, connect};
use howdah_client::url::NfsUrl;
use howdah_server::exports::{ClientRule, Export, Exports, Squash, TlsPolicy};
use howdah_server::{Server, Settings, Sockets};
use howdah_tls::{Authority, CertificatePurpose, ServerFiles, ServerTls};
use howdah_vfs::conformance::{self, Abilities, Subject};
use howdah_vfs::{Caller, Change, Create, CreateFile, Data, Name, NewAttributes, Stability, WriteFile};

use crate::served;
use crate::served::{EXPORT, memory};

const DAY: Duration = Duration::from_secs(86_400);
const ME: Caller = Caller::ROOT;

/// A server, and an authority that it and its clients trust.
struct Site {
    home: tempfile::TempDir,
    address: SocketAddr,
    _server: Server,
}

impl Site {
    fn new(policy: TlsPolicy) -> Self {
        let home = tempfile::tempdir().expect("a directory");
        let (authority, made) = Authority::new("test", DAY).expect("an authority");
        let path = |name: &str| -> PathBuf { home.path().join(name) };
        std::fs::write(path("ca.pem"), made.certificate).expect("written");
        let names = [
            ("server", CertificatePurpose::Server, "127.0.0.1"),
            ("client", CertificatePurpose::Client, "client.test"),
        ];
        for (file, purpose, name) in names {
            let made = authority.issue(purpose, &[name.to_owned()], DAY).expect("issued");
            std::fs::write(path(&format!("{file}.pem")), made.certificate).expect("written");
            std::fs::write(path(&format!("{file}.key")), made.key).expect("written");
        }
        let (foreign, made) = Authority::new("foreign", DAY).expect("an authority");
        std::fs::write(path("foreign.pem"), made.certificate).expect("written");
        let made =
            foreign.issue(CertificatePurpose::Client, &["client.test".to_owned()], DAY).expect("issued");
        std::fs::write(path("stranger.pem"), made.certificate).expect("written");
        std::fs::write(path("stranger.key"), made.key).expect("written");
        let files = ServerFiles {
            certificate: path("server.pem"),
            key: path("server.key"),
            authorities: vec![path("ca.pem")],
            revocations: Vec::new(),
        };
        let tls = Some(ServerTls::read(&files).expect("good files"));
        let rule = ClientRule { squash: Squash::None, ..ClientRule::default() };
        let export = Export::new(EXPORT, 1, memory(), vec![rule]).with_tls(policy);
        let exports = Exports::new(vec![export], [7; 16]).expect("one export");
        let sockets =
            Sockets::bind(&["127.0.0.1:0".parse().expect("an address")], false).expect("a free port");
        let server = Server::start(&Settings { workers: 4, tls, ..Settings::default() }, sockets, exports);
        let server = server.expect("a server");
        Self { address: server.addresses()[0].1, home, _server: server }
    }

    /// A URL of the export by way of an address, with files by their names in the place of `@`.
    fn url(&self, address: SocketAddr, query: &str) -> NfsUrl {
        let query = query.replace('@', &format!("{}/", self.home.path().display()));
        format!("nfs://{address}{EXPORT}?{query}").parse().expect("a URL")
    }

    fn refused(&self, query: &str) -> String {
        let outcome = connect(&self.url(self.address, query), &ConnectOptions::default());
        outcome.err().unwrap_or_else(|| panic!("{query}: connected")).to_string()
    }
}

const TLS: &str = "xprtsec=tls&tlsca=@ca.pem";
const MUTUAL: &str = "xprtsec=mtls&tlsca=@ca.pem&tlscert=@client.pem&tlskey=@client.key";

#[test]
fn a_file_system_conforms_over_tls() {
    let site = Site::new(TlsPolicy::ClientCertificate);
    let url = site.url(site.address, &format!("{MUTUAL}&lanes=3"));
    let subject = || {
        let client = connect(&url, &ConnectOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        Subject::new(client, Abilities { many_entries: 2_000, ..Abilities::default() })
    };
    let report = conformance::run(&subject);
    assert!(report.is_success(), "{report}");
}

#[test]
fn tls_may_begin_with_the_first_byte() {
    let site = Site::new(TlsPolicy::ClientCertificate);
    let query = MUTUAL.replace("mtls", "direct");
    let client = connect(&site.url(site.address, &query), &ConnectOptions::default()).expect("connected");
    assert!(client.attributes(&ME, &client.root()).is_ok());
    assert!(client.channel().report().tls.is_some());
    let said = site.refused("xprtsec=direct&tlsca=@ca.pem&tlskey=@client.key");
    assert!(said.contains("tlscert="), "{said}");
    let said = site.refused("xprtsec=direct&tlsca=@foreign.pem");
    assert!(said.contains("issued"), "{said}");
}

#[test]
fn a_server_that_knows_no_direct_tls_is_named() {
    // As other servers do with a record that is too long.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("its address");
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let _ = (&connection).read(&mut [0; 16]);
            let _ = connection.shutdown(Shutdown::Both);
        }
    });
    let site = Site::new(TlsPolicy::Offered);
    let url = site.url(address, "xprtsec=direct&tlsca=@ca.pem");
    let said = connect(&url, &ConnectOptions::default()).err().expect("refused").to_string();
    assert!(said.contains("xprtsec=tls"), "{said}");
}

#[test]
fn a_report_names_the_certificates_of_both_sides() {
    let site = Site::new(TlsPolicy::Offered);
    for (query, own) in [(TLS, None), (MUTUAL, Some("client.test"))] {
        let client = connect(&site.url(site.address, query), &ConnectOptions::default()).expect("connected");
        let report = client.channel().report().tls.expect("TLS");
        assert_eq!(report.own.as_ref().map(|own| own.name()), own);
        let certificate = report.certificate.expect("the server's certificate");
        assert_ne!(Some(certificate.name()), own);
    }
}

#[test]
fn what_is_wrong_is_said_with_what_to_do() {
    let site = Site::new(TlsPolicy::ClientCertificate);
    for (query, wanted) in [
        ("", &["permission denied", "xprtsec=tls or xprtsec=mtls"][..]),
        (TLS, &["permission denied"]),
        ("xprtsec=tls&tlsca=@foreign.pem", &["no authority that is trusted here issued it", "tlsca=FILE"]),
        (&format!("{TLS}&tlsname=other.test"), &["it is for 127.0.0.1, not for other.test", "tlsname=NAME"]),
        ("xprtsec=tls&tlsca=@none.pem", &["none.pem: there is no such file"]),
        ("xprtsec=mtls&tlsca=@ca.pem", &["tlscert=FILE and tlskey=FILE"]),
        (&format!("{TLS}&proto=udp"), &["needs TCP"]),
        (
            "xprtsec=mtls&tlsca=@ca.pem&tlscert=@stranger.pem&tlskey=@stranger.key",
            &["the peer refused", "of an authority that the server trusts"],
        ),
    ] {
        let said = site.refused(query);
        for part in wanted {
            assert!(said.contains(part), "{query:?} lacks {part:?}: {said}");
        }
    }
    let url = site.url(site.address, MUTUAL);
    assert!(connect(&url, &ConnectOptions::default()).is_ok());
}

/// Passes connections to a server, remembers what clients send, and can break all of them.
struct Observer {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Vec<u8>>>>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Observer {
    fn before(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("its address");
        let (seen, open) = (Arc::<Mutex<Vec<Vec<u8>>>>::default(), Arc::<Mutex<Vec<TcpStream>>>::default());
        let (seen_there, open_there) = (Arc::clone(&seen), Arc::clone(&open));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(server) else { continue };
                let place = {
                    let mut seen = seen_there.lock().expect("unpoisoned");
                    seen.push(Vec::new());
                    seen.len() - 1
                };
                let clone = |stream: &TcpStream| stream.try_clone().expect("a clone");
                open_there.lock().expect("unpoisoned").extend([clone(&client), clone(&server)]);
                let (mut from, mut to) = (clone(&server), clone(&client));
                std::thread::spawn(move || {
                    let _ = std::io::copy(&mut from, &mut to);
                    let _ = to.shutdown(Shutdown::Both);
                });
                let (mut from, mut to, seen) = (client, server, Arc::clone(&seen_there));
                std::thread::spawn(move || {
                    let mut piece = vec![0; 64 << 10];
                    while let Ok(count @ 1..) = from.read(&mut piece) {
                        seen.lock().expect("unpoisoned")[place].extend_from_slice(&piece[..count]);
                        if to.write_all(&piece[..count]).is_err() {
                            break;
                        }
                    }
                    let _ = to.shutdown(Shutdown::Both);
                });
            }
        });
        Self { address, seen, open }
    }

    fn break_all(&self) {
        for stream in self.open.lock().expect("unpoisoned").drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

#[test]
fn every_connection_is_secured_also_those_that_come_after_one_broke() {
    const SECRET: &[u8] = b"nobody on the way may read this";
    let site = Site::new(TlsPolicy::Required);
    let observer = Observer::before(site.address);
    let url = site.url(observer.address, &format!("{TLS}&lanes=3"));
    let client = connect(&url, &ConnectOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let how = Create::Unchecked(NewAttributes::with_mode(0o644));
    let name = Name::parse(SECRET).expect("a name");
    let made = client
        .create(&ME, CreateFile::new(&client.root(), name, &how), &mut Change::default())
        .expect("made");
    let data: Vec<u8> = SECRET.iter().copied().cycle().take(1 << 20).collect();
    for round in 0..12_u64 {
        if round % 4 == 3 {
            observer.break_all();
        }
        let (offset, change) = (round << 20, &mut Change::default());
        client
            .write(&ME, WriteFile::new(&made.handle, offset, Data::Bytes(&data), Stability::Unstable), change)
            .expect("written");
    }
    drop(client);
    let seen = observer.seen.lock().expect("unpoisoned");
    assert!(seen.len() > 3, "{} connections", seen.len());
    for bytes in seen.iter().filter(|bytes| bytes.len() > 48) {
        // The question for TLS, in the clear: 44 bytes. Then records of TLS.
        assert_eq!(bytes[44..46], [0x16, 3], "TLS begins");
        assert!(!bytes.windows(SECRET.len()).any(|window| window == SECRET));
    }
}

#[test]
fn a_server_without_tls_is_not_used_in_the_clear() {
    let served = served::serve_memory();
    let site = Site::new(TlsPolicy::Offered);
    let observer = Observer::before(served.address);
    let error = connect(&site.url(observer.address, TLS), &ConnectOptions::default());
    let said = error.err().expect("refused").to_string();
    assert!(said.contains("the server does not offer TLS"), "{said}");
    let seen = observer.seen.lock().expect("unpoisoned");
    assert!(!seen.is_empty() && seen.iter().all(|bytes| bytes.len() <= 44), "nothing but the question");
}
