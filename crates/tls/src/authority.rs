//! An authority for a test or a small site: its own certificate, and those that it issues to servers and clients.

use std::time::{Duration, SystemTime};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose,
};

use crate::other_name::of_user;

/// The purposes of RPC-with-TLS (RFC 9289 8.3): a client's, and a server's.
const RPC_CLIENT: [u64; 9] = [1, 3, 6, 1, 5, 5, 7, 3, 33];
const RPC_SERVER: [u64; 9] = [1, 3, 6, 1, 5, 5, 7, 3, 34];
/// Clocks differ: a certificate is valid from so long ago.
const SKEW: Duration = Duration::from_secs(3600);

/// What a certificate is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CertificatePurpose {
    /// A server proves its names by it.
    Server,
    /// A client proves its name by it.
    Client,
}

/// For how long a certificate is valid from now on.
pub type Lifetime = Duration;

/// A certificate and its key, in PEM.
pub struct Made {
    /// The certificate.
    pub certificate: String,
    /// Its private key.
    pub key: String,
}

/// An authority, which can issue certificates.
pub struct Authority(Issuer<'static, KeyPair>);

impl Authority {
    /// A new authority of this name, and what its files hold.
    ///
    /// # Errors
    /// The name cannot stand in a certificate, or the system gives no random numbers.
    pub fn new(name: &str, lifetime: Lifetime) -> Result<(Self, Made), String> {
        let mut parameters = parameters(name, &[], lifetime)?;
        parameters.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().map_err(|error| error.to_string())?;
        let certificate = parameters.self_signed(&key).map_err(|error| error.to_string())?;
        let made = Made { certificate: certificate.pem(), key: key.serialize_pem() };
        Ok((Self(Issuer::new(parameters, key)), made))
    }

    /// The authority of these files.
    ///
    /// # Errors
    /// They hold none.
    pub fn from_pem(certificate: &str, key: &str) -> Result<Self, String> {
        let key = KeyPair::from_pem(key).map_err(|error| format!("the key: {error}"))?;
        Issuer::from_ca_cert_pem(certificate, key)
            .map(Self)
            .map_err(|error| format!("the certificate: {error}"))
    }

    /// For what it signs.
    pub(crate) fn issuer(&self) -> &Issuer<'static, KeyPair> {
        &self.0
    }

    /// Issues a certificate: of a server for these host names and addresses, of a client for its name. The first is its common name.
    ///
    /// # Errors
    /// There is no name, or one of them cannot stand in a certificate.
    pub fn issue(
        &self,
        purpose: CertificatePurpose,
        names: &[String],
        lifetime: Lifetime,
    ) -> Result<Made, String> {
        self.issue_for_user(purpose, names, None, lifetime)
    }

    /// The same, of a client that acts for this user, as in `user@domain`.
    ///
    /// # Errors
    /// As above.
    pub fn issue_for_user(
        &self,
        purpose: CertificatePurpose,
        names: &[String],
        user: Option<&str>,
        lifetime: Lifetime,
    ) -> Result<Made, String> {
        let first = names.first().ok_or("a certificate needs a name")?;
        let mut parameters = parameters(first, names, lifetime)?;
        parameters.subject_alt_names.extend(user.map(of_user));
        parameters.use_authority_key_identifier_extension = true;
        parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        // Both the purposes that TLS knows and those of the RFC: peers ask for one or the other.
        parameters.extended_key_usages = match purpose {
            CertificatePurpose::Server => vec![ExtendedKeyUsagePurpose::ServerAuth, other(RPC_SERVER)],
            CertificatePurpose::Client => vec![ExtendedKeyUsagePurpose::ClientAuth, other(RPC_CLIENT)],
        };
        let key = KeyPair::generate().map_err(|error| error.to_string())?;
        let certificate = parameters.signed_by(&key, &self.0).map_err(|error| error.to_string())?;
        Ok(Made { certificate: certificate.pem(), key: key.serialize_pem() })
    }
}

fn parameters(common: &str, names: &[String], lifetime: Lifetime) -> Result<CertificateParams, String> {
    let mut parameters = CertificateParams::new(names.to_vec()).map_err(|error| error.to_string())?;
    parameters.distinguished_name = DistinguishedName::new();
    parameters.distinguished_name.push(DnType::CommonName, common);
    let now = SystemTime::now();
    parameters.not_before = (now - SKEW).into();
    parameters.not_after = (now + lifetime).into();
    Ok(parameters)
}

fn other(purpose: [u64; 9]) -> ExtendedKeyUsagePurpose {
    ExtendedKeyUsagePurpose::Other(purpose.to_vec())
}
