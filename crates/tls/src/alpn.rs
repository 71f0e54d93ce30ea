//! The name of the protocol in the handshake.

/// The protocol that both ends name in the handshake (ALPN, RFC 9289 8.2). Linux clients name none over TCP, so it is not required.
pub const ALPN: &[u8] = b"sunrpc";
