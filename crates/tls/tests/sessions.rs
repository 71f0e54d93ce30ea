//! Two ends of a session, with nothing but memory between them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use howdah_random::Random;
use howdah_tls::{
    Authority, CertificateFacts, CertificatePurpose, ClientFiles, ClientTls, SEAL_MAX, SEALED_MAX,
    ServerFiles, ServerTls, TlsError, TlsSession,
};

const DAY: Duration = Duration::from_secs(86_400);

/// An authority in a directory, with certificates that it issued.
struct Site {
    home: tempfile::TempDir,
    authority: Authority,
}

impl Site {
    fn new() -> Self {
        let home = tempfile::tempdir().expect("a directory");
        let (authority, made) = Authority::new(&home.path().to_string_lossy(), DAY).expect("an authority");
        fs::write(home.path().join("ca.pem"), made.certificate).expect("written");
        Self { home, authority }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn issue(&self, file: &str, purpose: CertificatePurpose, name: &str) -> (PathBuf, PathBuf) {
        let made = self.authority.issue(purpose, &[name.to_owned()], DAY).expect("issued");
        let paths = (self.path(&format!("{file}.pem")), self.path(&format!("{file}.key")));
        fs::write(&paths.0, made.certificate).expect("written");
        fs::write(&paths.1, made.key).expect("written");
        paths
    }

    fn server(&self, authorities: &[&Path]) -> ServerTls {
        let (certificate, key) = self.issue("server", CertificatePurpose::Server, "server.test");
        let authorities = authorities.iter().map(|path| path.to_path_buf()).collect();
        ServerTls::read(&ServerFiles { certificate, key, authorities, revocations: Vec::new() })
            .expect("good files")
    }

    fn client(&self, name: &str, identity: Option<(PathBuf, PathBuf)>) -> ClientTls {
        let files = ClientFiles { authorities: Some(self.path("ca.pem")), identity };
        ClientTls::read(&files, name).expect("good files")
    }
}

/// An end, and what it is not done with.
struct End {
    session: TlsSession,
    kept: Vec<u8>,
    plain: Vec<u8>,
}

impl End {
    fn new(session: TlsSession) -> Self {
        Self { session, kept: Vec::new(), plain: Vec::new() }
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), TlsError> {
        self.kept.extend_from_slice(bytes);
        let plain = &mut self.plain;
        let opened = self.session.open(&mut self.kept, |piece| plain.extend_from_slice(piece))?;
        self.kept.drain(..opened);
        Ok(())
    }

    fn seal(&mut self, plain: &[u8]) -> Vec<u8> {
        let mut sealed = vec![0; SEALED_MAX];
        let length = self.session.seal(plain, &mut self.kept, &mut sealed).expect("open");
        let mut all = std::mem::take(self.session.outgoing());
        all.extend_from_slice(&sealed[..length]);
        all
    }
}

/// Hands over what is to be sent until both are silent, in pieces of so many bytes.
fn converse(client: &mut End, server: &mut End, piece: usize) -> Result<(), (&'static str, TlsError)> {
    loop {
        let flights = [std::mem::take(client.session.outgoing()), std::mem::take(server.session.outgoing())];
        if flights.iter().all(Vec::is_empty) {
            return Ok(());
        }
        for part in flights[0].chunks(piece) {
            server.take(part).map_err(|error| ("server", error))?;
        }
        for part in flights[1].chunks(piece) {
            client.take(part).map_err(|error| ("client", error))?;
        }
    }
}

fn connected(site: &Site, piece: usize) -> (End, End) {
    let (server, client) = (site.server(&[]), site.client("server.test", None));
    let mut ends = (End::new(client.session().expect("begun")), End::new(server.session().expect("begun")));
    converse(&mut ends.0, &mut ends.1, piece).expect("they agree");
    assert!(!ends.0.session.is_handshaking() && !ends.1.session.is_handshaking());
    ends
}

#[test]
fn what_is_sealed_comes_out_whatever_the_pieces() {
    let site = Site::new();
    for piece in [1, 7, 4096, usize::MAX] {
        let (mut client, mut server) = connected(&site, piece);
        let mut random = Random::new(0x5eed);
        let mut sent = Vec::new();
        for length in [1, 40, 16 << 10, (16 << 10) + 1, SEAL_MAX] {
            let data: Vec<u8> = (0..length).map(|_| random.number() as u8).collect();
            let sealed = server.seal(&data);
            assert!(sealed.len() <= SEALED_MAX);
            for (number, part) in sealed.chunks(piece).enumerate() {
                client.take(part).expect("opened");
                // Who has received part of a record can send all the same.
                if number < 50 {
                    let call = client.seal(b"call");
                    server.take(&call).expect("opened");
                }
            }
            sent.extend_from_slice(&data);
        }
        assert!(client.plain == sent && client.kept.is_empty(), "pieces of {piece}");
        assert!(server.plain.starts_with(b"callcall"));
    }
}

#[test]
fn who_ends_says_so() {
    let (mut client, mut server) = connected(&Site::new(), usize::MAX);
    let data = client.seal(b"last");
    client.session.end(&mut []);
    let farewell = std::mem::take(client.session.outgoing());
    server.take(&data[..5]).expect("half a record");
    server.take(&data[5..]).expect("the rest");
    assert!(!server.session.has_ended());
    server.take(&farewell).expect("an alert");
    assert_eq!((server.session.has_ended(), &server.plain[..]), (true, &b"last"[..]));
}

#[test]
fn a_changed_byte_ends_the_session() {
    let (mut client, mut server) = connected(&Site::new(), usize::MAX);
    let mut data = client.seal(b"a call");
    data[8] ^= 1;
    let error = server.take(&data).expect_err("changed");
    assert!(server.plain.is_empty() && !server.session.outgoing().is_empty(), "{error}: an alert says so");
}

/// Which end refuses, and why.
fn refused(client: &ClientTls, server: &ServerTls) -> (&'static str, String) {
    let mut ends = (End::new(client.session().expect("begun")), End::new(server.session().expect("begun")));
    let (which, error) = converse(&mut ends.0, &mut ends.1, usize::MAX).expect_err("refused");
    (which, error.to_string())
}

#[test]
fn a_server_that_is_another_or_unknown_is_refused() {
    let (site, other) = (Site::new(), Site::new());
    let server = site.server(&[]);
    let (which, why) = refused(&site.client("other.test", None), &server);
    assert_eq!((which, why.contains("it is for server.test, not for other.test")), ("client", true), "{why}");
    let (which, why) = refused(&other.client("server.test", None), &server);
    assert_eq!(
        (which, why.contains("no authority that is trusted here issued it")),
        ("client", true),
        "{why}"
    );
    // A client's certificate proves no server.
    let (certificate, key) = site.issue("wrong", CertificatePurpose::Client, "server.test");
    let wrong =
        ServerTls::read(&ServerFiles { certificate, key, authorities: Vec::new(), revocations: Vec::new() })
            .expect("good files");
    let (which, why) = refused(&site.client("server.test", None), &wrong);
    assert_eq!((which, why.contains("not issued for this purpose")), ("client", true), "{why}");
    // One that has expired: it began an hour ago, as all do.
    let made = site
        .authority
        .issue(CertificatePurpose::Server, &["server.test".to_owned()], Duration::ZERO)
        .expect("issued");
    let (certificate, key) = (site.path("old.pem"), site.path("old.key"));
    fs::write(&certificate, made.certificate).expect("written");
    fs::write(&key, made.key).expect("written");
    let old =
        ServerTls::read(&ServerFiles { certificate, key, authorities: Vec::new(), revocations: Vec::new() })
            .expect("good files");
    std::thread::sleep(Duration::from_millis(1100));
    let (which, why) = refused(&site.client("server.test", None), &old);
    assert_eq!((which, why.contains("it has expired")), ("client", true), "{why}");
}

#[test]
fn clients_show_certificates_only_where_they_are_asked_and_those_of_others_are_refused() {
    let (site, other) = (Site::new(), Site::new());
    let identity = site.issue("client", CertificatePurpose::Client, "client.test");
    let (known, unknown) = (site.client("server.test", Some(identity)), site.client("server.test", None));
    for (authorities, client, has_shown) in [
        (&[][..], &known, false),
        (&[site.path("ca.pem")][..], &known, true),
        (&[site.path("ca.pem")][..], &unknown, false),
    ] {
        let authorities: Vec<&Path> = authorities.iter().map(PathBuf::as_path).collect();
        let server = site.server(&authorities);
        let mut ends =
            (End::new(client.session().expect("begun")), End::new(server.session().expect("begun")));
        converse(&mut ends.0, &mut ends.1, usize::MAX).expect("they agree");
        let shown = ends.1.session.peer_certificate();
        assert_eq!(shown.is_some(), has_shown);
        if let Some(shown) = shown {
            assert_eq!((shown.subject.as_str(), shown.name()), ("CN=client.test", "client.test"));
            assert_eq!(shown.user.as_deref(), None);
        }
    }
    let foreign = other.issue("client", CertificatePurpose::Client, "client.test");
    let client = site.client("server.test", Some(foreign));
    let (which, why) = refused(&client, &site.server(&[&site.path("ca.pem")]));
    assert_eq!((which, why.contains("no authority that is trusted here")), ("server", true), "{why}");
}

#[test]
fn a_client_whose_certificate_is_revoked_is_refused_from_the_next_reading_on() {
    let (site, other) = (Site::new(), Site::new());
    let [gone, good] = ["gone", "good"].map(|name| site.issue(name, CertificatePurpose::Client, name));
    let revoked = fs::read_to_string(&gone.0).expect("read");
    let [gone, good] = [gone, good].map(|identity| site.client("server.test", Some(identity)));
    let (certificate, key) = site.issue("server", CertificatePurpose::Server, "server.test");
    let authorities = vec![site.path("ca.pem"), other.path("ca.pem")];
    let mut files = ServerFiles { certificate, key, authorities, revocations: Vec::new() };
    let server = ServerTls::read(&files).expect("good files");
    let greet = |client: &ClientTls| {
        let mut ends =
            (End::new(client.session().expect("begun")), End::new(server.session().expect("begun")));
        converse(&mut ends.0, &mut ends.1, usize::MAX).map_err(|(which, error)| (which, error.to_string()))
    };
    greet(&gone).expect("not revoked yet");
    fs::write(site.path("ca.crl"), site.authority.revoke(None, &revoked).expect("a list")).expect("written");
    files.revocations.push(site.path("ca.crl"));
    server.renew(&files).expect("good files");
    let (which, why) = greet(&gone).expect_err("revoked");
    assert_eq!((which, why.contains("it was revoked")), ("server", true), "{why}");
    greet(&good).expect("not revoked");
    files.revocations.push(site.path("ca.pem"));
    let why = server.renew(&files).expect_err("a certificate is no list").to_string();
    assert!(
        why.ends_with("ca.pem: it contains no list of revoked certificates in PEM (-----BEGIN ...)"),
        "{why}"
    );
}

#[test]
fn a_certificate_is_renewed_for_all_clones_or_stays() {
    let site = Site::new();
    let (certificate, key) = site.issue("server", CertificatePurpose::Server, "server.test");
    let files = ServerFiles { certificate, key, authorities: Vec::new(), revocations: Vec::new() };
    let server = ServerTls::read(&files).expect("good files");
    let clone = server.clone();
    site.issue("server", CertificatePurpose::Server, "new.test");
    assert_eq!(clone.facts()[0].names, ["server.test"]);
    server.renew(&files).expect("good files");
    assert_eq!(clone.facts()[0].names, ["new.test"]);
    let left = clone.facts()[0].left(std::time::SystemTime::now()).expect("valid");
    assert!(left <= DAY && left > DAY - Duration::from_secs(600), "{left:?}");
    fs::write(&files.key, "no key").expect("written");
    let why = server.renew(&files).expect_err("no key").to_string();
    assert!(why.ends_with("server.key: it contains no private key in PEM (-----BEGIN ...)"), "{why}");
    assert_eq!(clone.facts()[0].names, ["new.test"]);
}

#[test]
fn the_user_and_the_digest_of_a_client_s_certificate_are_told() {
    let site = Site::new();
    let names = ["client.test".to_owned(), "10.0.0.7".to_owned()];
    let made = site
        .authority
        .issue_for_user(CertificatePurpose::Client, &names, Some("ann@example.org"), DAY)
        .expect("issued");
    let (certificate, key) = (site.path("user.pem"), site.path("user.key"));
    std::fs::write(&certificate, made.certificate).expect("written");
    std::fs::write(&key, made.key).expect("written");
    let client = site.client("server.test", Some((certificate.clone(), key)));
    let server = site.server(&[&site.path("ca.pem")]);
    let mut ends = (End::new(client.session().expect("begun")), End::new(server.session().expect("begun")));
    converse(&mut ends.0, &mut ends.1, usize::MAX).expect("they agree");
    let shown = ends.1.session.peer_certificate().expect("it was shown");
    assert_eq!(shown.names, names);
    assert_eq!(shown.user.as_deref(), Some("ann@example.org"));
    assert_eq!(CertificateFacts::of_file(&certificate).expect("a certificate"), [shown]);
}
