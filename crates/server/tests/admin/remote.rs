//! The admin interface over TCP: who has the token is answered, in the clear or by TLS; nobody else.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use howdah_net::Listener;
use howdah_server::admin::{AccessToken, AdminAddress, Certificate};
use howdah_server::exports::Exports;
use howdah_server::{Server, Settings, Sockets};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

struct Remote {
    _server: Server,
    address: SocketAddr,
}

impl Remote {
    fn start(certificate: Option<Certificate>) -> Self {
        let local = "127.0.0.1:0".parse().expect("an address");
        let mut sockets = Sockets::bind(&[local], false).expect("bound");
        let listener = Listener::bind(local).expect("bound");
        let address = listener.address();
        let token = AccessToken::parse(TOKEN).expect("a token");
        sockets.admin_address = Some(AdminAddress { listener, token, certificate });
        let server = Server::start(&Settings::default(), sockets, Exports::default()).expect("started");
        Self { _server: server, address }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).expect("it listens")
    }

    /// Asks with these headers; the status, the head, the body.
    fn ask(&self, question: &str, headers: &[String]) -> (u16, String, String) {
        ask(self.connect(), question, headers)
    }
}

fn ask(mut stream: impl Read + Write, question: &str, headers: &[String]) -> (u16, String, String) {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    write!(stream, "{question} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n").expect("sent");
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("answered");
    let text = String::from_utf8(bytes).expect("text");
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a status");
    (status, head.to_ascii_lowercase(), body.to_owned())
}

fn host(name: &str) -> String {
    format!("Host: {name}")
}

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}

#[test]
fn nothing_is_told_without_the_token_and_all_with_it() {
    let remote = Remote::start(None);
    let own = host(&remote.address.to_string());
    for question in ["GET /v1", "GET /v1/samples", "GET /metrics", "PUT /v1/knobs/tcp_rcvbuf"] {
        for wrong in
            [None, Some(bearer("")), Some(bearer(&TOKEN[1..])), Some(format!("Authorization: Basic {TOKEN}"))]
        {
            let headers: Vec<String> = [own.clone()].into_iter().chain(wrong).collect();
            let (status, head, body) = remote.ask(question, &headers);
            assert_eq!(status, 401, "{question} {headers:?}: {body}");
            assert!(head.contains("www-authenticate: bearer") && !body.contains(TOKEN), "{head}");
        }
    }
    for question in ["GET /v1", "GET /v1/samples", "GET /metrics"] {
        let (status, head, body) = remote.ask(question, &[own.clone(), bearer(TOKEN)]);
        assert_eq!(status, 200, "{question}: {body}");
        assert!(head.contains("cache-control: no-store") && head.contains("nosniff"), "{head}");
    }
}

#[test]
fn other_names_and_other_pages_are_refused() {
    let remote = Remote::start(None);
    for (name, origin, status) in [
        ("evil.example", None, 421),
        ("localhost", None, 200),
        ("localhost:8000", Some("http://localhost:8000"), 200),
        ("localhost", Some("http://evil.example"), 403),
        ("127.0.0.1", Some("null"), 403),
    ] {
        let origin = origin.map(|origin| format!("Origin: {origin}"));
        let headers: Vec<String> = [host(name), bearer(TOKEN)].into_iter().chain(origin).collect();
        let (answered, _, body) = remote.ask("GET /v1", &headers);
        assert_eq!(answered, status, "{headers:?}: {body}");
        // Not even the page.
        let (answered, _, _) = remote.ask("GET /", &headers);
        assert_eq!(answered, status, "{headers:?}");
    }
}

#[test]
fn the_page_needs_no_token_and_runs_nothing_from_elsewhere() {
    let remote = Remote::start(None);
    let (status, head, body) = remote.ask("GET /", &[host("localhost")]);
    assert_eq!(status, 200);
    assert!(head.contains("content-type: text/html") && head.contains("default-src 'none'"), "{head}");
    assert!(!head.contains("unsafe") && head.contains("frame-ancestors 'none'"), "{head}");
    for place in body.split('"').filter(|text| text.starts_with("/page/")) {
        let (status, _, content) = remote.ask(&format!("GET {place}"), &[host("localhost")]);
        assert!(status == 200 && !content.is_empty(), "{place}");
    }
}

#[test]
fn a_connection_may_ask_again() {
    let remote = Remote::start(None);
    let mut stream = remote.connect();
    for _ in 0..3 {
        write!(stream, "GET /v1/workers HTTP/1.1\r\nHost: localhost\r\n{}\r\n\r\n", bearer(TOKEN))
            .expect("sent");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).expect("answered");
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).expect("text").to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length = length.and_then(|length| length.parse().ok()).expect("a length");
        stream.read_exact(&mut vec![0; length]).expect("a body");
    }
}

#[test]
fn by_tls_it_is_called_as_its_certificate_says() {
    let home = tempfile::tempdir().expect("a directory");
    let (chain, key) = (home.path().join("chain.pem"), home.path().join("key.pem"));
    let write = |name: &str| {
        let made = rcgen::generate_simple_self_signed(vec![name.to_owned()]).expect("made");
        fs::write(&chain, made.cert.pem()).expect("written");
        fs::write(&key, made.signing_key.serialize_pem()).expect("written");
    };
    write("nfs.example.org");
    let certificate = Certificate::read(&chain, &key).expect("both are good");
    let remote = Remote::start(Some(certificate.clone()));

    let believing = |name: &'static str| {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(&chain).expect("a certificate")).expect("a root");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from(name).expect("a name");
        ClientConnection::new(Arc::new(config), name).expect("a client")
    };
    let secret = || StreamOwned::new(believing("nfs.example.org"), remote.connect());
    let (status, _, body) = ask(secret(), "GET /v1", &[host("nfs.example.org:9048"), bearer(TOKEN)]);
    assert_eq!(status, 200, "{body}");
    assert_eq!(ask(secret(), "GET /v1", &[host("nfs.example.org")]).0, 401);
    assert_eq!(ask(secret(), "GET /v1", &[host("evil.example"), bearer(TOKEN)]).0, 421);

    // Another one in the same files holds from the next connection on, and what is no certificate changes nothing.
    write("new.example.org");
    certificate.renew(&chain, &key).expect("both are good");
    fs::write(&key, "nothing").expect("written");
    assert!(certificate.renew(&chain, &key).is_err());
    let new = || StreamOwned::new(believing("new.example.org"), remote.connect());
    assert_eq!(ask(new(), "GET /v1", &[host("new.example.org"), bearer(TOKEN)]).0, 200);
    assert_eq!(ask(new(), "GET /v1", &[host("nfs.example.org"), bearer(TOKEN)]).0, 421);

    // In the clear there is no answer.
    let mut stream = remote.connect();
    write!(stream, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("sent");
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP"), "{}", String::from_utf8_lossy(&answer));
}
