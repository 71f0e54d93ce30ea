//! The certificate and key that the admin interface proves itself by, and the names that they are good for.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::locks::RwLock;
use rustls::ServerConfig;
use rustls::client::verify_server_name;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::ParsedCertificate;
use webpki::EndEntityCert;

/// Read from files of PEM. All clones are one: where one is renewed, all are.
#[derive(Debug, Clone)]
pub struct Certificate(Arc<RwLock<Held>>);

/// What holds now.
#[derive(Debug)]
struct Held {
    chain: Vec<CertificateDer<'static>>,
    config: Arc<ServerConfig>,
}

/// Why there is none.
#[derive(Debug)]
pub struct CertificateError {
    /// Which file.
    pub path: PathBuf,
    /// What is wrong.
    pub why: String,
}

impl Certificate {
    /// The chain, the server's own certificate first, and its key.
    ///
    /// # Errors
    /// A file cannot be read, does not hold what it should, or the two do not belong together.
    pub fn read(chain: &Path, key: &Path) -> Result<Self, CertificateError> {
        Held::read(chain, key).map(|held| Self(Arc::new(RwLock::new(held))))
    }

    /// Reads others in its place: they hold for connections that are made from then on.
    ///
    /// # Errors
    /// As above; then it stays as it was.
    pub fn renew(&self, chain: &Path, key: &Path) -> Result<(), CertificateError> {
        Held::read(chain, key).map(|held| *self.0.write() = held)
    }

    /// For the handshake.
    pub(super) fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.0.read().config)
    }

    /// A name that clients believe the server by, to show to a person: `wanted` if it is one.
    pub fn name(&self, wanted: &str) -> Option<String> {
        if self.is_for(wanted) {
            return Some(wanted.to_owned());
        }
        let held = self.0.read();
        let own = EndEntityCert::try_from(held.chain.first()?).ok()?;
        own.valid_dns_names().find(|name| !name.contains('*')).map(str::to_owned)
    }

    /// Whether clients believe the server to be that host.
    pub(super) fn is_for(&self, host: &str) -> bool {
        let name = ServerName::try_from(host);
        let held = self.0.read();
        let own = held.chain.first().and_then(|own| ParsedCertificate::try_from(own).ok());
        matches!((name, own), (Ok(name), Some(own)) if verify_server_name(&own, &name).is_ok())
    }
}

impl Held {
    fn read(chain: &Path, key: &Path) -> Result<Self, CertificateError> {
        let fail = |path: &Path| {
            let path = path.to_owned();
            move |why: String| CertificateError { path, why }
        };
        let certificates = CertificateDer::pem_file_iter(chain)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| fail(chain)(in_words(&error, "certificate")))?;
        if certificates.is_empty() {
            return Err(fail(chain)(in_words(&pem::Error::NoItemsFound, "certificate")));
        }
        let private =
            PrivateKeyDer::from_pem_file(key).map_err(|error| fail(key)(in_words(&error, "private key")))?;
        let config = configured(certificates.clone(), private)
            .map_err(|error| fail(key)(format!("it does not go with {}: {error}", chain.display())))?;
        Ok(Self { chain: certificates, config: Arc::new(config) })
    }
}

fn configured(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<ServerConfig, rustls::Error> {
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn in_words(error: &pem::Error, what: &str) -> String {
    match error {
        pem::Error::Io(error) if error.kind() == io::ErrorKind::NotFound => {
            "there is no such file".to_owned()
        }
        pem::Error::NoItemsFound => format!("no {what} in PEM is in it (-----BEGIN …)"),
        pem::Error::Io(error) => error.to_string(),
        other => format!("reading PEM: {other}"),
    }
}

impl std::fmt::Display for CertificateError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}: {}", self.path.display(), self.why)
    }
}

impl std::error::Error for CertificateError {}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_certificate_is_for_its_names_alone() {
        let home = tempfile::tempdir().expect("a directory");
        let (chain, key) = (home.path().join("chain.pem"), home.path().join("key.pem"));
        let made = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            rcgen::generate_simple_self_signed(names).expect("made")
        };
        let own = made(&["nfs.example.org", "10.0.0.7"]);
        fs::write(&chain, own.cert.pem()).expect("written");
        fs::write(&key, own.signing_key.serialize_pem()).expect("written");
        let certificate = Certificate::read(&chain, &key).expect("both are good");
        for (host, is_meant) in [
            ("nfs.example.org", true),
            ("NFS.example.org", true),
            ("10.0.0.7", true),
            ("evil.example", false),
        ] {
            assert_eq!(certificate.is_for(host), is_meant, "{host}");
        }
        assert_eq!(certificate.name("10.0.0.7").as_deref(), Some("10.0.0.7"));
        assert_eq!(
            certificate.name("localhost").as_deref(),
            Some("nfs.example.org"),
            "it is not for localhost"
        );

        let why = |chain: &Path, key: &Path| Certificate::read(chain, key).expect_err("wrong").to_string();
        assert!(why(&home.path().join("none"), &key).contains("none: there is no such file"));
        assert!(why(&key, &key).contains("no certificate in PEM"), "{}", why(&key, &key));
        assert!(why(&chain, &chain).contains("no private key in PEM"), "{}", why(&chain, &chain));
        fs::write(&key, made(&["other.example"]).signing_key.serialize_pem()).expect("written");
        assert!(why(&chain, &key).contains("does not go with"), "{}", why(&chain, &key));

        let other = certificate.clone();
        assert!(certificate.renew(&chain, &key).is_err());
        assert!(other.is_for("nfs.example.org"), "it stays as it was");
        let new = made(&["new.example.org"]);
        fs::write(&chain, new.cert.pem()).expect("written");
        fs::write(&key, new.signing_key.serialize_pem()).expect("written");
        certificate.renew(&chain, &key).expect("both are good");
        assert!(other.is_for("new.example.org") && !other.is_for("nfs.example.org"), "all clones are one");
    }
}
