//! What people need to know of a certificate: whose it is, for which names, until when.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustls::pki_types::CertificateDer;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::files::{self, FileError};
use crate::fingerprint::{Fingerprint, sha256};
use crate::other_name::user_name;

/// What a certificate says.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CertificateFacts {
    /// Its subject, as in `CN=server`.
    pub subject: String,
    /// The host names and addresses that it is for.
    pub names: Vec<String>,
    /// The user whom its holder acts for, as in `user@domain` (otherName of FreeBSD's `rpc.tlsservd`).
    pub user: Option<Arc<str>>,
    /// Tells it from all others.
    pub fingerprint: Fingerprint,
    /// From when it is valid, in seconds since 1970.
    pub not_before: i64,
    /// Until when, in seconds since 1970.
    pub not_after: i64,
}

impl CertificateFacts {
    /// Of an encoded certificate; `None` if it is none.
    pub(crate) fn of(der: &CertificateDer<'_>) -> Option<Self> {
        let (_, certificate) = X509Certificate::from_der(der).ok()?;
        let alternatives = certificate.subject_alternative_name().ok().flatten();
        let alternatives = alternatives.map_or(&[][..], |extension| &extension.value.general_names[..]);
        let validity = certificate.validity();
        Some(Self {
            subject: certificate.subject().to_string(),
            names: alternatives.iter().filter_map(name).collect(),
            user: alternatives.iter().find_map(user_name),
            fingerprint: Fingerprint::of(der),
            not_before: validity.not_before.timestamp(),
            not_after: validity.not_after.timestamp(),
        })
    }

    /// Of an encoded certificate, as a peer shows it; `None` if it is none.
    pub fn of_der(der: &[u8]) -> Option<Self> {
        Self::of(&CertificateDer::from(der))
    }

    /// Of each certificate in a file of PEM, in their order.
    ///
    /// # Errors
    /// The file cannot be read, or holds no certificate.
    pub fn of_file(path: &Path) -> Result<Vec<Self>, FileError> {
        files::certificates(path).map(|chain| chain.iter().filter_map(Self::of).collect())
    }

    /// Whether both name the same holder. A renewed certificate names the same one.
    pub fn has_holder_of(&self, other: &Self) -> bool {
        self.subject == other.subject && self.names == other.names && self.user == other.user
    }

    /// A digest of whom it names: subject, names and user. A renewed certificate has the same one.
    pub fn holder(&self) -> [u8; 32] {
        let user = self.user.as_deref().into_iter();
        let parts = std::iter::once(&*self.subject).chain(user).chain(self.names.iter().map(String::as_str));
        let mut bytes = vec![u8::from(self.user.is_some())];
        for part in parts {
            // The length of each part: no part can pass for two.
            bytes.extend((part.len() as u64).to_be_bytes());
            bytes.extend(part.as_bytes());
        }
        sha256(&bytes)
    }

    /// What people call it: its first name, or its subject.
    pub fn name(&self) -> &str {
        self.names.first().unwrap_or(&self.subject)
    }

    /// How long it is still valid; `None` if it has expired.
    pub fn left(&self, now: SystemTime) -> Option<Duration> {
        let now = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
        u64::try_from(self.not_after).ok()?.checked_sub(now).map(Duration::from_secs)
    }
}

fn name(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => {
            let v4 = || <[u8; 4]>::try_from(*bytes).map(IpAddr::from);
            let v6 = || <[u8; 16]>::try_from(*bytes).map(IpAddr::from);
            v4().or_else(|_| v6()).ok().map(|address| address.to_string())
        }
        _ => None,
    }
}
