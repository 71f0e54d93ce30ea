//! The server's side: its certificate, and the authorities whose clients it trusts. Both can be renewed while it serves.

use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::RwLock;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoClientAuth, NoServerSessionStorage, WebPkiClientVerifier};
use rustls::version::TLS13;

use crate::alpn::ALPN;
use crate::error::TlsError;
use crate::facts::CertificateFacts;
use crate::files::{self, FileError};
use crate::purpose::EitherPurpose;
use crate::session::TlsSession;

/// The files of a server, in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerFiles {
    /// The certificate, and those that lead from it to an authority that clients trust.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// The authorities that issue certificates of clients; without one, no client is asked for a certificate.
    pub authorities: Vec<PathBuf>,
    /// Lists of certificates of clients that are no longer good (CRL, RFC 5280 5), of any of those authorities.
    pub revocations: Vec<PathBuf>,
}

impl ServerFiles {
    /// All of them.
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.certificate, &self.key].into_iter().chain(&self.authorities).chain(&self.revocations)
    }
}

/// What a server proves itself by, and whom it trusts. All clones are one: where one is renewed, all are.
#[derive(Debug, Clone)]
pub struct ServerTls(Arc<RwLock<Held>>);

/// What holds now.
#[derive(Debug)]
struct Held {
    config: Arc<ServerConfig>,
    facts: Vec<CertificateFacts>,
    asks_clients: bool,
}

impl ServerTls {
    /// Reads the files.
    ///
    /// # Errors
    /// A file cannot be read, does not hold what it should, or certificate and key do not belong together.
    pub fn read(files: &ServerFiles) -> Result<Self, FileError> {
        Held::read(files).map(|held| Self(Arc::new(RwLock::new(held))))
    }

    /// Reads them again: what they hold is good for connections that are made from then on.
    ///
    /// # Errors
    /// As above; then all stays as it was.
    pub fn renew(&self, files: &ServerFiles) -> Result<(), FileError> {
        Held::read(files).map(|held| *self.0.write() = held)
    }

    /// The server's side of a new connection.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn session(&self) -> Result<TlsSession, TlsError> {
        let config = Arc::clone(&self.0.read().config);
        TlsSession::server(config)
    }

    /// What QUIC, which has its own records, needs of it, as it is now.
    pub fn quic_config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.0.read().config)
    }

    /// What the certificate says, then those that follow it in its file.
    pub fn facts(&self) -> Vec<CertificateFacts> {
        self.0.read().facts.clone()
    }

    /// Whether clients are asked for a certificate.
    pub fn asks_clients(&self) -> bool {
        self.0.read().asks_clients
    }
}

impl Held {
    fn read(files: &ServerFiles) -> Result<Self, FileError> {
        let chain = files::certificates(&files.certificate)?;
        let key = files::private_key(&files.key)?;
        let facts = chain.iter().filter_map(CertificateFacts::of).collect();
        let asks_clients = !files.authorities.is_empty();
        let verifier = verifier(files)?;
        let mut config = builder(verifier)
            .and_then(|builder| builder.with_single_cert(chain, key))
            .map_err(|error| mismatch(files, &error))?;
        config.alpn_protocols = vec![ALPN.to_vec()];
        // A session is not resumed: clients of Linux keep no tickets, and a new handshake proves the certificates anew.
        config.send_tls13_tickets = 0;
        config.session_storage = Arc::new(NoServerSessionStorage {});
        Ok(Self { config: Arc::new(config), facts, asks_clients })
    }
}

type Builder = rustls::ConfigBuilder<ServerConfig, rustls::server::WantsServerCert>;

fn builder(verifier: Arc<dyn ClientCertVerifier>) -> Result<Builder, rustls::Error> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_protocol_versions(&[&TLS13])?;
    Ok(builder.with_client_cert_verifier(verifier))
}

/// Who has no certificate is let in all the same: what that client may do, exports say.
fn verifier(files: &ServerFiles) -> Result<Arc<dyn ClientCertVerifier>, FileError> {
    let Some(first) = files.authorities.first() else { return Ok(Arc::new(NoClientAuth)) };
    let roots = Arc::new(files::authorities(&files.authorities)?);
    let provider = Arc::new(aws_lc_rs::default_provider());
    let lists = files::revocations(&files.revocations)?;
    let standard = WebPkiClientVerifier::builder_with_provider(Arc::clone(&roots), provider)
        .allow_unauthenticated()
        .with_crls(lists.clone())
        .only_check_end_entity_revocation()
        // An authority without a list has revoked nothing.
        .allow_unknown_revocation_status()
        .build()
        .map_err(|error| FileError::new(first, error.to_string()))?;
    EitherPurpose::around(standard, roots, &lists)
        .map(|verifier| Arc::new(verifier) as Arc<dyn ClientCertVerifier>)
        .map_err(|error| FileError::new(first, error.to_string()))
}

fn mismatch(files: &ServerFiles, error: &rustls::Error) -> FileError {
    let why = format!("it does not belong to the certificate in {}: {error}", files.certificate.display());
    FileError::new(&files.key, why)
}
