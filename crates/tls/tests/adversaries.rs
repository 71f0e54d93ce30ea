//! Clients that mean harm, with nothing but memory between them and the server's end.

use std::io::{Cursor, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use howdah_tls::{Authority, CertificatePurpose, SEALED_MAX, ServerFiles, ServerTls, TlsSession};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

const DAY: Duration = Duration::from_secs(86_400);
/// What a flood brings.
const FLOOD: usize = 10_000;

/// A client that does what it likes, and the server's end after the handshake.
struct Pair {
    client: ClientConnection,
    server: TlsSession,
    kept: Vec<u8>,
    plain: Vec<u8>,
}

impl Pair {
    fn new() -> Self {
        let home = tempfile::tempdir().expect("a directory");
        let path = |name: &str| -> PathBuf { home.path().join(name) };
        let (authority, made) = Authority::new("test", DAY).expect("an authority");
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(made.certificate.as_bytes()).expect("PEM")).expect("a root");
        let made = authority.issue(CertificatePurpose::Server, &["server.test".to_owned()], DAY);
        let made = made.expect("issued");
        std::fs::write(path("pem"), made.certificate).expect("written");
        std::fs::write(path("key"), made.key).expect("written");
        let files = ServerFiles {
            certificate: path("pem"),
            key: path("key"),
            authorities: Vec::new(),
            revocations: Vec::new(),
        };
        let server = ServerTls::read(&files).expect("good files").session().expect("begun");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .expect("TLS 1.3")
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from("server.test").expect("a name");
        let client = ClientConnection::new(Arc::new(config), name).expect("begun");
        let mut pair = Self { client, server, kept: Vec::new(), plain: Vec::new() };
        while pair.client.is_handshaking() || pair.server.is_handshaking() {
            let flight = pair.flight();
            pair.receive(&flight).expect("they agree");
            pair.answer();
        }
        pair
    }

    /// What the client has to send.
    fn flight(&mut self) -> Vec<u8> {
        let mut flight = Vec::new();
        while self.client.wants_write() {
            self.client.write_tls(&mut flight).expect("memory");
        }
        flight
    }

    fn receive(&mut self, bytes: &[u8]) -> Result<(), howdah_tls::TlsError> {
        self.kept.extend_from_slice(bytes);
        let plain = &mut self.plain;
        let consumed = self.server.open(&mut self.kept, |piece| plain.extend_from_slice(piece))?;
        self.kept.drain(..consumed);
        Ok(())
    }

    /// What the server has to say of itself reaches the client.
    fn answer(&mut self) {
        let mut bytes = Cursor::new(std::mem::take(self.server.outgoing()));
        while self.client.read_tls(&mut bytes).expect("memory") > 0 {
            self.client.process_new_packets().expect("good records");
        }
    }
}

#[test]
fn a_flood_of_key_updates_ends_the_session_and_makes_no_flood_of_answers() {
    let mut pair = Pair::new();
    let over = (0..FLOOD).find(|_| {
        pair.client.refresh_traffic_keys().expect("a request");
        let flight = pair.flight();
        pair.receive(&flight).is_err()
    });
    assert!(over.is_some_and(|at| at < 100), "{over:?}");
    assert!(pair.server.outgoing().len() < 200, "one answer is for all of them, and an alert");
}

#[test]
fn keys_may_change_with_each_call() {
    let mut pair = Pair::new();
    for round in 0..FLOOD / 10 {
        pair.client.refresh_traffic_keys().expect("a request");
        pair.client.writer().write_all(b"call").expect("room");
        let flight = pair.flight();
        pair.receive(&flight).expect("the keys are right");
        assert_eq!(pair.plain.len(), 4 * (round + 1));
        let mut sealed = vec![0; SEALED_MAX];
        let length = pair.server.seal(b"reply", &mut pair.kept, &mut sealed).expect("open");
        assert!(pair.server.outgoing().len() < 200, "round {round}");
        pair.server.outgoing().extend_from_slice(&sealed[..length]);
        pair.answer();
        let mut reply = [0; 5];
        pair.client.reader().read_exact(&mut reply).expect("it came");
        assert_eq!(&reply, b"reply");
    }
}

#[test]
fn records_of_one_byte_and_of_none_come_out_whole_and_hold_nothing() {
    let mut pair = Pair::new();
    for byte in 0..FLOOD {
        pair.client.writer().write_all(&[byte as u8]).expect("room");
        let flight = pair.flight();
        pair.receive(&flight).expect("records may be short");
        assert!(pair.kept.is_empty());
    }
    assert!(pair.plain.iter().enumerate().all(|(at, byte)| *byte == at as u8) && pair.plain.len() == FLOOD);
}

#[test]
fn a_second_handshake_in_a_session_ends_it() {
    // TLS 1.3 has no renegotiation: a ClientHello in a session, in the clear or not, is an error (RFC 8446 4.1.2).
    let hello = {
        let mut another = Pair::new();
        let config = Arc::new(
            ClientConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
                .with_protocol_versions(&[&rustls::version::TLS13])
                .expect("TLS 1.3")
                .with_root_certificates(RootCertStore::empty())
                .with_no_client_auth(),
        );
        let name = ServerName::try_from("server.test").expect("a name");
        another.client = ClientConnection::new(config, name).expect("begun");
        another.flight()
    };
    let mut pair = Pair::new();
    pair.receive(&hello).expect_err("nobody begins anew");
    let alert = pair.server.outgoing().len();
    assert!((1..200).contains(&alert), "{alert} bytes say why");
    for _ in 0..FLOOD {
        pair.receive(&hello).expect_err("it is over");
        pair.kept.clear();
    }
    assert_eq!(pair.server.outgoing().len(), alert, "and nothing more is said");
}

#[test]
fn change_cipher_specs_and_warnings_are_not_taken_for_ever() {
    // Messages of older versions that TLS 1.3 lets pass once.
    for record in [&[0x14, 3, 3, 0, 1, 1][..], &[0x15, 3, 3, 0, 2, 1, 90]] {
        let mut pair = Pair::new();
        let over = (0..FLOOD).find(|_| pair.receive(record).is_err());
        assert!(over.is_some_and(|at| at < 100), "{record:?}: {over:?}");
    }
}
