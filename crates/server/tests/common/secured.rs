//! TLS: certificates, and a client's side of connections.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use howdah_net::{ConnectSettings, Connection, Place, Sent, Wait};
use howdah_tls::{Authority, CertificatePurpose, ClientFiles, ClientTls, ServerFiles, ServerTls};
use howdah_wire::rpc::RecordMark;

pub const PATIENCE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(86_400);

/// An authority, and what it issued for a server and a client.
pub struct Certificates {
    home: tempfile::TempDir,
}

impl Certificates {
    pub fn new() -> Self {
        let certificates = Self { home: tempfile::tempdir().expect("a directory") };
        let write = |name: &str, text: &[u8]| std::fs::write(certificates.path(name), text).expect("written");
        let (authority, made) = Authority::new("test", DAY).expect("an authority");
        write("ca.pem", made.certificate.as_ref());
        for (name, purpose) in
            [("server", CertificatePurpose::Server), ("client", CertificatePurpose::Client)]
        {
            let made = authority.issue(purpose, &[format!("{name}.test")], DAY).expect("issued");
            write(&format!("{name}.pem"), made.certificate.as_ref());
            write(&format!("{name}.key"), made.key.as_ref());
        }
        certificates
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// What a server needs.
    pub fn server(&self) -> ServerTls {
        let files = ServerFiles {
            certificate: self.path("server.pem"),
            key: self.path("server.key"),
            authorities: vec![self.path("ca.pem")],
            revocations: Vec::new(),
        };
        ServerTls::read(&files).expect("certificates")
    }

    /// What a client needs.
    pub fn client(&self, with_certificate: bool) -> ClientTls {
        let identity = with_certificate.then(|| (self.path("client.pem"), self.path("client.key")));
        let files = ClientFiles { authorities: Some(self.path("ca.pem")), identity };
        ClientTls::read(&files, "server.test").expect("certificates")
    }

    /// A connection that is TLS from its first byte.
    pub fn connect(&self, to: SocketAddr, with_certificate: bool) -> Connection {
        let session = self.client(with_certificate).session().expect("a session");
        connect(to).secure(session, Instant::now() + PATIENCE).expect("secured")
    }
}

/// A connection in the clear.
pub fn connect(to: SocketAddr) -> Connection {
    let settings = ConnectSettings {
        timeout: PATIENCE,
        silence: PATIENCE,
        reserved_port: false,
        from: None,
        tick: PATIENCE,
        window: None,
    };
    Connection::open(to, &settings).expect("connected")
}

/// Sends all of this.
pub fn send(connection: &Connection, bytes: &[u8]) {
    let mut sent = 0;
    while sent < bytes.len() {
        match connection
            .send(&[std::io::IoSlice::new(&bytes[sent..])], false)
            .expect("the connection is open")
        {
            Sent::Bytes(count) => sent += count,
            Sent::WouldBlock => {
                let writable = howdah_net::Readiness { readable: false, writable: true };
                connection.wait(writable, PATIENCE).expect("the connection is open");
            }
        }
    }
}

/// The next record.
pub fn receive(connection: &Connection) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        if let Some(mark) = bytes.first_chunk().copied() {
            let length = RecordMark::from_bytes(mark).length as usize + RecordMark::SIZE;
            if bytes.len() == length {
                return bytes.split_off(RecordMark::SIZE);
            }
        }
        let most = match bytes.first_chunk().copied() {
            Some(mark) => RecordMark::from_bytes(mark).length as usize + RecordMark::SIZE - bytes.len(),
            None => RecordMark::SIZE - bytes.len(),
        };
        let received = connection
            .receive(&mut [Place { buffer: &mut bytes, most }], Wait::Some)
            .expect("the connection is open");
        assert_ne!(received, Sent::Bytes(0), "the connection is open");
    }
}
