//! Whether an export takes calls in the clear, encrypted, or only from clients that proved who they are.

use crate::TransportSecurity;

/// What protects the calls that an export takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TlsPolicy {
    /// Nothing may: calls over TLS are refused.
    Off,
    /// As the client likes.
    #[default]
    Offered,
    /// TLS must.
    Required,
    /// TLS must, and the client must have proved who it is by a certificate.
    ClientCertificate,
}

impl TlsPolicy {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Off, Self::Offered, Self::Required, Self::ClientCertificate];

    /// The name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Offered => "offered",
            Self::Required => "required",
            Self::ClientCertificate => "client-certificate",
        }
    }

    /// Whether a server without a certificate can take no call at all.
    pub fn needs_tls(self) -> bool {
        matches!(self, Self::Required | Self::ClientCertificate)
    }

    /// Whether calls that are protected so are taken.
    pub fn takes(self, security: TransportSecurity) -> bool {
        match self {
            Self::Off => !security.is_encrypted(),
            Self::Offered => true,
            Self::Required => security.is_encrypted(),
            Self::ClientCertificate => security == TransportSecurity::TlsWithCertificate,
        }
    }
}
