//! TLS on connections (RFC 9289): who may begin it, how many handshakes go on at once, and how they end. It knows no program.

mod door;
mod figures;
mod handshakes;

pub use door::{HANDSHAKE, TlsDoor};
#[cfg(test)]
pub use figures::TlsFigures;
pub use handshakes::Permit;
