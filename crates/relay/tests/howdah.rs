//! A relay before a howdah server: what a client sees through it is what it sees directly, and TLS protects the way.

mod far;

use std::io::Read;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use far::relay_to;
use howdah_client::Remote;
use howdah_client::connect::{ConnectOptions, connect};
use howdah_relay::{Far, Relay, RelaySettings};
use howdah_server::exports::{ClientRule, Export, Exports, Squash, TlsPolicy};
use howdah_server::{Server, Settings, Sockets};
use howdah_tls::{Authority, CertificatePurpose, ServerFiles, ServerTls};
use howdah_vfs::conformance::{self, Abilities, Subject};
use howdah_vfs::memory::{MemoryFileSystem, MemoryOptions};

const DAY: Duration = Duration::from_secs(86_400);
const EXPORT: &str = "/export";

/// A server, with an authority that it and its clients trust.
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
            ("relay", CertificatePurpose::Client, "relay.test"),
        ];
        for (file, purpose, name) in names {
            let made = authority.issue(purpose, &[name.to_owned()], DAY).expect("issued");
            std::fs::write(path(&format!("{file}.pem")), made.certificate).expect("written");
            std::fs::write(path(&format!("{file}.key")), made.key).expect("written");
        }
        let files = ServerFiles {
            certificate: path("server.pem"),
            key: path("server.key"),
            authorities: vec![path("ca.pem")],
            revocations: Vec::new(),
        };
        let tls = Some(ServerTls::read(&files).expect("good files"));
        let rule = ClientRule { squash: Squash::None, ..ClientRule::default() };
        let options = MemoryOptions { root_mode: 0o777, ..MemoryOptions::default() };
        let fs = Arc::new(MemoryFileSystem::with_options(options));
        let exports = Exports::new(vec![Export::new(EXPORT, 1, fs, vec![rule]).with_tls(policy)], [7; 16]);
        let sockets =
            Sockets::bind(&["127.0.0.1:0".parse().expect("an address")], false).expect("a free port");
        let settings = Settings { workers: 4, tls, ..Settings::default() };
        let server = Server::start(&settings, sockets, exports.expect("one export")).expect("a server");
        Self { address: server.addresses()[0].1, home, _server: server }
    }

    /// A URL of the whole server, with files by their names in the place of `@`.
    fn url(&self, query: &str) -> String {
        let query = query.replace('@', &format!("{}/", self.home.path().display()));
        format!("nfs://{}?{query}", self.address)
    }

    fn relay(&self, query: &str) -> Relay {
        relay_to(&self.url(query), &RelaySettings::default())
    }
}

const MUTUAL: &str = "xprtsec=mtls&tlsca=@ca.pem&tlscert=@relay.pem&tlskey=@relay.key";

fn client(relay: &Relay, query: &str) -> Arc<dyn Remote> {
    let url = format!("nfs://{}{EXPORT}?{query}", relay.addresses()[0]).parse().expect("a URL");
    connect(&url, &ConnectOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn conforms(relay: &Relay) {
    let subject =
        || Subject::new(client(relay, "lanes=3"), Abilities { many_entries: 2_000, ..Abilities::default() });
    let report = conformance::run(&subject);
    assert!(report.is_success(), "{report}");
}

#[test]
fn a_file_system_conforms_through_a_relay() {
    let site = Site::new(TlsPolicy::Offered);
    conforms(&site.relay(""));
}

#[test]
fn a_file_system_conforms_through_a_relay_whose_far_connections_are_protected() {
    let site = Site::new(TlsPolicy::ClientCertificate);
    let relay = site.relay(MUTUAL);
    assert!(relay.far().has_certificate());
    conforms(&relay);
    let client = client(&relay, "lanes=1");
    let report = relay.report();
    assert!(!report.connections.is_empty());
    assert!(report.connections.iter().all(|connection| connection.tls && !connection.to_far.spliced));
    drop(client);
}

#[test]
fn the_two_ends_may_protect_all_of_the_way_themselves() {
    let site = Site::new(TlsPolicy::Required);
    let relay = site.relay("");
    let files = format!("{}/", site.home.path().display());
    let _client = client(&relay, &format!("xprtsec=tls&tlsca={files}ca.pem&lanes=1"));
    let report = relay.report();
    assert!(report.connections.iter().any(|connection| !connection.tls && connection.to_far.spliced));
}

#[test]
fn nothing_goes_on_in_the_clear_where_the_far_server_is_not_who_it_should_be() {
    let site = Site::new(TlsPolicy::Offered);
    let find = |query: &str| Far::find(&site.url(query).parse().expect("a URL"));
    let said = find("xprtsec=tls&tlsca=@ca.pem&tlsname=other.test").expect_err("refused").to_string();
    assert!(said.contains("not for other.test"), "{said}");
    // One that offers no TLS.
    let plain = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = plain.local_addr().expect("bound");
    let query = site.url("xprtsec=tls&tlsca=@ca.pem");
    let query = query.split_once('?').expect("a query").1;
    let heard = thread::scope(|scope| {
        let asked = scope.spawn(|| {
            let mut heard = Vec::new();
            let (mut stream, _) = plain.accept().expect("asked");
            let mut call = [0; 44];
            stream.read_exact(&mut call).expect("a question");
            stream.shutdown(std::net::Shutdown::Write).expect("open");
            stream.read_to_end(&mut heard).expect("in order");
            heard
        });
        let url = format!("nfs://{address}?{query}").parse().expect("a URL");
        assert!(Far::find(&url).is_err());
        asked.join().expect("no panic")
    });
    assert_eq!(heard, b"", "nothing in the clear but the question");
}
