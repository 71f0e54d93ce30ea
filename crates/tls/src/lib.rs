//! TLS 1.3 for RPC (RFC 9289), without a socket: sessions that turn plaintext into records and back, the settings of servers and
//! clients from files of PEM, and an authority that makes certificates for a test or a small site.
//!
//! It knows certificates and records. It does not know sockets, nor what the plaintext means.

mod alpn;
mod authority;
mod client;
mod error;
mod facts;
mod files;
mod fingerprint;
mod other_name;

mod purpose;
mod revocation;
mod server;
mod session;

pub use authority::{Authority, CertificatePurpose, Lifetime, Made};
pub use client::{ClientFiles, ClientTls};
pub use error::TlsError;
pub use facts::CertificateFacts;
pub use files::FileError;
pub use fingerprint::Fingerprint;
pub use server::{ServerFiles, ServerTls};
pub use session::{SEAL_MAX, SEALED_MAX, TlsSession};
