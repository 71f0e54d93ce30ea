//! How much goes into one call: what FSINFO announces, and READ and READDIR keep to.

use crate::limits::TRANSFER_MAX;
use crate::{Peer, Transport};

/// The largest READ and WRITE in a datagram to a client on this host, in bytes: what the Linux kernel's server takes
/// over UDP. The loopback interface loses no fragments.
const DATAGRAM_ON_THIS_HOST: u32 = 32 << 10;
/// The same to any other client: six fragments of Ethernet, instead of 22 of which each one that is lost costs all.
const DATAGRAM: u32 = 8 << 10;
/// The largest listing, in bytes: some 300 entries of a READDIRPLUS, so that what a call costs weighs little beside
/// them, and the reply still fits a buffer that is kept.
const LISTING: u32 = 64 << 10;

/// The most bytes of data in a READ or WRITE of this client.
pub fn data(peer: &Peer) -> u32 {
    match peer.transport {
        Transport::Tcp => TRANSFER_MAX as u32,
        Transport::Udp if is_on_this_host(peer) => DATAGRAM_ON_THIS_HOST,
        Transport::Udp => DATAGRAM,
    }
}

/// The most bytes of a READDIR or READDIRPLUS to this client.
pub fn listing(peer: &Peer) -> u32 {
    data(peer).min(LISTING)
}

fn is_on_this_host(peer: &Peer) -> bool {
    let client = peer.client.ip().to_canonical();
    client.is_loopback() || client == peer.server.ip().to_canonical()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_are_small_beyond_this_host() {
        for (client, server, transport, most) in [
            ("192.0.2.1:700", "192.0.2.2:2049", Transport::Tcp, 1 << 20),
            ("192.0.2.1:700", "192.0.2.2:2049", Transport::Udp, 8 << 10),
            ("192.0.2.2:700", "192.0.2.2:2049", Transport::Udp, 32 << 10),
            ("127.0.0.1:700", "127.0.0.1:2049", Transport::Udp, 32 << 10),
            ("[::ffff:127.0.0.1]:700", "[::ffff:127.0.0.1]:2049", Transport::Udp, 32 << 10),
            ("[::1]:700", "[::1]:2049", Transport::Udp, 32 << 10),
        ] {
            let address = |text: &str| text.parse().expect("address");
            assert_eq!(
                data(&Peer { client: address(client), server: address(server), transport }),
                most,
                "{client}"
            );
        }
    }
}
