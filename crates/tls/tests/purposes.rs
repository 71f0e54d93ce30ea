//! What clients' certificates are issued for, and which of them a server takes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use howdah_tls::{Authority, ClientFiles, ClientTls, ServerFiles, ServerTls, TlsError};
use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};

const DAY: Duration = Duration::from_secs(86_400);
/// A client of RPC-with-TLS, and a server (RFC 9289 8.3).
const RPC_CLIENT: [u64; 9] = [1, 3, 6, 1, 5, 5, 7, 3, 33];
const RPC_SERVER: [u64; 9] = [1, 3, 6, 1, 5, 5, 7, 3, 34];

/// An authority in a directory.
struct Site {
    home: tempfile::TempDir,
    authority: Authority,
    issuer: Issuer<'static, KeyPair>,
}

impl Site {
    fn new() -> Self {
        let home = tempfile::tempdir().expect("a directory");
        let (authority, made) = Authority::new("test", DAY).expect("an authority");
        let key = KeyPair::from_pem(&made.key).expect("a key");
        let issuer = Issuer::from_ca_cert_pem(&made.certificate, key).expect("an authority");
        fs::write(home.path().join("ca.pem"), made.certificate).expect("written");
        Self { home, authority, issuer }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// A certificate for these purposes, and its key.
    fn issue(&self, name: &str, purposes: &[ExtendedKeyUsagePurpose]) -> (PathBuf, PathBuf) {
        self.issue_below(name, purposes, (&self.issuer, ""))
    }

    /// The same with a certificate between it and the authority, which has no purposes itself.
    fn issue_by_another(&self, name: &str, purposes: &[ExtendedKeyUsagePurpose]) -> (PathBuf, PathBuf) {
        let mut parameters = CertificateParams::new(Vec::new()).expect("no names");
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        parameters.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate().expect("a key");
        let certificate = parameters.signed_by(&key, &self.issuer).expect("issued");
        self.issue_below(name, purposes, (&Issuer::new(parameters, key), &certificate.pem()))
    }

    fn issue_below(
        &self,
        name: &str,
        purposes: &[ExtendedKeyUsagePurpose],
        (issuer, chain): (&Issuer<'_, KeyPair>, &str),
    ) -> (PathBuf, PathBuf) {
        let mut parameters = CertificateParams::new(vec![format!("{name}.test")]).expect("a name");
        parameters.use_authority_key_identifier_extension = true;
        parameters.extended_key_usages = purposes.to_vec();
        let key = KeyPair::generate().expect("a key");
        let certificate = parameters.signed_by(&key, issuer).expect("issued");
        let paths = (self.path(&format!("{name}.pem")), self.path(&format!("{name}.key")));
        fs::write(&paths.0, certificate.pem() + chain).expect("written");
        fs::write(&paths.1, key.serialize_pem()).expect("written");
        paths
    }

    fn server(&self, revocations: Vec<PathBuf>) -> ServerTls {
        let (certificate, key) = self.issue("server", &[ExtendedKeyUsagePurpose::ServerAuth]);
        let authorities = vec![self.path("ca.pem")];
        ServerTls::read(&ServerFiles { certificate, key, authorities, revocations }).expect("good files")
    }

    /// Whether this server takes a client with that certificate.
    fn greet(&self, server: &ServerTls, identity: &(PathBuf, PathBuf)) -> Result<(), TlsError> {
        let files = ClientFiles { authorities: Some(self.path("ca.pem")), identity: Some(identity.clone()) };
        let client = ClientTls::read(&files, "server.test").expect("good files");
        let mut ends = [client.session().expect("begun"), server.session().expect("begun")];
        let mut kept = [Vec::new(), Vec::new()];
        loop {
            let flights = ends.each_mut().map(|end| std::mem::take(end.outgoing()));
            if flights.iter().all(Vec::is_empty) {
                assert!(ends[1].peer_certificate().is_some());
                return Ok(());
            }
            for (to, flight) in [(1, &flights[0]), (0, &flights[1])] {
                kept[to].extend_from_slice(flight);
                let opened = ends[to].open(&mut kept[to], |_| {})?;
                kept[to].drain(..opened);
            }
        }
    }
}

fn rpc(purpose: [u64; 9]) -> ExtendedKeyUsagePurpose {
    ExtendedKeyUsagePurpose::Other(purpose.to_vec())
}

#[test]
fn a_client_s_certificate_is_for_clients_of_tls_or_of_rpc() {
    use ExtendedKeyUsagePurpose::{ClientAuth, ServerAuth};
    let site = Site::new();
    let server = site.server(Vec::new());
    let greet = |purposes: &[ExtendedKeyUsagePurpose]| site.greet(&server, &site.issue("client", purposes));
    for purposes in [vec![], vec![ClientAuth], vec![rpc(RPC_CLIENT)], vec![ServerAuth, rpc(RPC_CLIENT)]] {
        greet(&purposes).unwrap_or_else(|error| panic!("{purposes:?}: {error}"));
    }
    for purposes in [vec![ServerAuth], vec![rpc(RPC_SERVER)], vec![ServerAuth, rpc(RPC_SERVER)]] {
        let why = greet(&purposes).expect_err("it is for no client").to_string();
        assert!(why.contains("it was not issued for this purpose"), "{purposes:?}: {why}");
    }
}

#[test]
fn authorities_between_need_no_purpose_of_their_own() {
    use ExtendedKeyUsagePurpose::{ClientAuth, ServerAuth};
    let site = Site::new();
    let server = site.server(Vec::new());
    for purpose in [ClientAuth, rpc(RPC_CLIENT)] {
        let identity = site.issue_by_another("client", &[purpose]);
        site.greet(&server, &identity).expect("for clients");
    }
    let identity = site.issue_by_another("client", &[ServerAuth]);
    site.greet(&server, &identity).expect_err("for servers");
}

#[test]
fn a_certificate_for_clients_of_rpc_is_as_good_as_the_others_otherwise() {
    let (site, other) = (Site::new(), Site::new());
    let purposes = [rpc(RPC_CLIENT)];
    let (good, gone) = (site.issue("good", &purposes), site.issue("gone", &purposes));
    let of = |path: &Path| fs::read_to_string(path).expect("read");
    let list = site.authority.revoke(None, &of(&gone.0)).expect("a list");
    fs::write(site.path("ca.crl"), list).expect("written");
    let server = site.server(vec![site.path("ca.crl")]);
    site.greet(&server, &good).expect("not revoked");
    // Of another authority, and revoked.
    site.greet(&server, &other.issue("stranger", &purposes)).expect_err("a stranger");
    site.greet(&server, &gone).expect_err("revoked");
}
