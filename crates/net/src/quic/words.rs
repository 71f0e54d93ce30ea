//! Why there is no connection of QUIC, as people read it: what failed, and what to do.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;

use howdah_quic::LostWhy;

/// What failed, and what to do.
pub(super) fn in_words(why: &LostWhy, address: SocketAddr) -> io::Error {
    let port = address.port();
    match why {
        LostWhy::Silence => io::Error::new(
            ErrorKind::TimedOut,
            format!(
                "no answer by QUIC (UDP port {port}): the server serves no QUIC there (howdah serve --quic {port} does), or UDP is \
                 blocked on the way; proto=tcp uses TCP"
            ),
        ),
        LostWhy::Distrust(why) => io::Error::new(
            ErrorKind::InvalidData,
            format!(
                "the QUIC handshake failed: {why}; tlsca=FILE names the server's authority, tlsname=NAME the name in its certificate"
            ),
        ),
        LostWhy::Distrusted(why) => io::Error::new(
            ErrorKind::InvalidData,
            format!(
                "the server refuses the QUIC handshake: {why}; use a certificate (tlscert=, tlskey=) of an authority that the server trusts"
            ),
        ),
        LostWhy::Restarted | LostWhy::Other(_) => {
            io::Error::new(ErrorKind::ConnectionReset, format!("the QUIC connection is over: {why}"))
        }
    }
}
