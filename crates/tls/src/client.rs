//! The client's side: whom it trusts, and the certificate that it proves itself by, if it has one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::ServerName;
use rustls::version::TLS13;
use rustls::{ClientConfig, RootCertStore};

use crate::alpn::ALPN;
use crate::error::TlsError;
use crate::facts::CertificateFacts;
use crate::files::{self, FileError};
use crate::session::TlsSession;

/// Where systems keep the authorities that they trust: Debian, Fedora, SUSE, Alpine and FreeBSD.
const SYSTEM: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The files of a client, in PEM.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientFiles {
    /// The authorities that issue certificates of servers; without a file, those that the system trusts.
    pub authorities: Option<PathBuf>,
    /// A certificate with those that lead from it to its authority, and its key.
    pub identity: Option<(PathBuf, PathBuf)>,
}

/// What a client trusts, is, and expects its server to be. Two are equal if they were read together.
#[derive(Debug, Clone)]
pub struct ClientTls {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    is_direct: bool,
    has_certificate: bool,
    certificate: Option<Arc<CertificateFacts>>,
}

impl ClientTls {
    /// Reads the files, for servers that prove to be `name`: a host name or an address.
    ///
    /// # Errors
    /// A file cannot be read or does not hold what it should, or the name is none.
    pub fn read(files: &ClientFiles, name: &str) -> Result<Self, FileError> {
        let place = files.authorities.as_deref().unwrap_or(Path::new(SYSTEM[0]));
        let name = ServerName::try_from(name.to_owned()).map_err(|_| {
            FileError::new(place, format!("no server can prove to be {name:?}: it is no host name"))
        })?;
        let provider = Arc::new(aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])
            .map_err(|error| FileError::new(place, error.to_string()))?
            .with_root_certificates(roots(files)?);
        let (mut config, certificate) = match &files.identity {
            None => (builder.with_no_client_auth(), None),
            Some((certificate, key)) => {
                let chain = files::certificates(certificate)?;
                let facts = chain.first().and_then(CertificateFacts::of).map(Arc::new);
                let built = builder.with_client_auth_cert(chain, files::private_key(key)?);
                let config = built.map_err(|error| {
                    let certificate = certificate.display();
                    FileError::new(
                        key,
                        format!("it does not belong to the certificate in {certificate}: {error}"),
                    )
                })?;
                (config, facts)
            }
        };
        config.alpn_protocols = vec![ALPN.to_vec()];
        config.resumption = Resumption::disabled();
        let has_certificate = files.identity.is_some();
        Ok(Self { config: Arc::new(config), name, is_direct: false, has_certificate, certificate })
    }

    /// The same, for servers that expect TLS from a connection's first byte, as those of clouds do. No protocol is named (ALPN): what ends
    /// TLS there may know none.
    #[must_use]
    pub fn direct(mut self) -> Self {
        Arc::make_mut(&mut self.config).alpn_protocols.clear();
        self.is_direct = true;
        self
    }

    /// Whether TLS begins with the first byte, and the server is not asked before.
    pub fn is_direct(&self) -> bool {
        self.is_direct
    }

    /// The client's side of a new connection.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn session(&self) -> Result<TlsSession, TlsError> {
        TlsSession::client(Arc::clone(&self.config), self.name.clone())
    }

    /// What QUIC, which has its own records, needs of it: the settings, and who the server must prove to be.
    pub fn quic_config(&self) -> (Arc<ClientConfig>, String) {
        (Arc::clone(&self.config), self.name())
    }

    /// Whether the client has a certificate.
    pub fn has_certificate(&self) -> bool {
        self.has_certificate
    }

    /// What the client's certificate says, if it has one that can be read.
    pub fn certificate(&self) -> Option<&CertificateFacts> {
        self.certificate.as_deref()
    }

    /// Who the server must prove to be.
    pub fn name(&self) -> String {
        self.name.to_str().into_owned()
    }
}

impl PartialEq for ClientTls {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.config, &other.config) && self.name == other.name
    }
}

fn roots(files: &ClientFiles) -> Result<RootCertStore, FileError> {
    if let Some(path) = &files.authorities {
        return files::authorities(std::slice::from_ref(path));
    }
    let path = SYSTEM.iter().map(PathBuf::from).find(|path| path.exists());
    let path = path.ok_or_else(|| {
        FileError::new(
            Path::new(SYSTEM[0]),
            "this host has no list of authorities; name one by tlsca=FILE".to_owned(),
        )
    })?;
    let mut store = RootCertStore::empty();
    // Systems also list what no program can use: such a one issues nothing that is accepted.
    store.add_parsable_certificates(files::certificates(&path)?);
    Ok(store)
}
