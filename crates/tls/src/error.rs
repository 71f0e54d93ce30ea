//! Why a session is over.

use std::fmt;

use rustls::{AlertDescription, CertificateError, Error};

/// Why a session is over: its peer spoke wrongly, or one of the two does not trust the other.
#[derive(Debug, Clone, PartialEq)]
pub struct TlsError(pub(crate) Error);

impl TlsError {
    /// Whether the peer's certificate was refused here.
    pub fn is_distrust(&self) -> bool {
        matches!(self.0, Error::InvalidCertificate(_) | Error::NoCertificatesPresented)
    }

    /// Whether the peer refused our certificate, or that we have none.
    pub fn is_distrusted(&self) -> bool {
        use AlertDescription as A;
        matches!(
            self.0,
            Error::AlertReceived(
                A::UnknownCA
                    | A::BadCertificate
                    | A::CertificateExpired
                    | A::CertificateRevoked
                    | A::CertificateUnknown
                    | A::CertificateRequired
                    | A::UnsupportedCertificate
                    | A::AccessDenied
            )
        )
    }
}

impl fmt::Display for TlsError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Error::InvalidCertificate(error) => {
                formatter.write_str("the peer's certificate is not accepted: ")?;
                distrust(error, formatter)
            }
            Error::AlertReceived(alert) => write!(formatter, "the peer refused: {}", alert_name(*alert)),
            Error::NoCertificatesPresented => formatter.write_str("the peer has no certificate"),
            Error::PeerIncompatible(why) => write!(formatter, "the peer cannot do what is required: {why:?}"),
            other => other.fmt(formatter),
        }
    }
}

impl std::error::Error for TlsError {}

fn distrust(error: &CertificateError, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    match error {
        CertificateError::UnknownIssuer => formatter.write_str("no authority that is trusted here issued it"),
        CertificateError::BadSignature => formatter.write_str(
            "its signature is wrong: an authority with the name of one that is trusted here, and another key, issued it",
        ),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            formatter.write_str("it has expired")
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            formatter.write_str("it is not valid yet")
        }
        CertificateError::Revoked => formatter.write_str("it was revoked"),
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            formatter.write_str("it was not issued for this purpose")
        }
        CertificateError::NotValidForName => formatter.write_str("it is for another name"),
        CertificateError::NotValidForNameContext { expected, presented } => {
            write!(formatter, "it is for {}, not for {}", names(presented), expected.to_str())
        }
        other => write!(formatter, "{other:?}"),
    }
}

/// The names of a certificate as people read them: rustls gives them as `DnsName("host")`.
fn names(presented: &[String]) -> String {
    let bare = |name: &String| match name.split_once('(') {
        Some((_, inner)) => inner.trim_end_matches(')').trim_matches('"').to_owned(),
        None => name.clone(),
    };
    if presented.is_empty() {
        return "no name at all".to_owned();
    }
    presented.iter().map(bare).collect::<Vec<_>>().join(", ")
}

fn alert_name(alert: AlertDescription) -> String {
    use AlertDescription as A;
    match alert {
        A::UnknownCA => "it does not know who issued our certificate".to_owned(),
        A::BadCertificate | A::CertificateUnknown => "it does not accept our certificate".to_owned(),
        A::CertificateExpired => "our certificate has expired".to_owned(),
        A::CertificateRevoked => "our certificate was revoked".to_owned(),
        A::CertificateRequired => "it requires a certificate".to_owned(),
        A::UnsupportedCertificate => "our certificate was not issued for this purpose".to_owned(),
        A::AccessDenied => "it denies access".to_owned(),
        A::ProtocolVersion => "it does not speak TLS 1.3".to_owned(),
        A::HandshakeFailure => "no cipher suite in common".to_owned(),
        A::NoApplicationProtocol => "it speaks another protocol than sunrpc".to_owned(),
        other => format!("{other:?}"),
    }
}
