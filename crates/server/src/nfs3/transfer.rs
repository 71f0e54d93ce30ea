//! How much goes into one call: what FSINFO announces, and READ and READDIR keep to.

use crate::Peer;
use crate::limits::{DATAGRAM_TRANSFER_MAX, TRANSFER_MAX};

/// What is announced for datagrams at least, in bytes: six fragments of Ethernet, instead of 22 of which each one that is lost
/// costs all.
const DATAGRAM_LEAST: u32 = 8 << 10;
/// So many fragments a datagram may have on other paths, too: where packets are longer, more goes into one.
const FRAGMENTS: usize = 6;
/// Bytes of a packet that carry no data: the headers of IPv6, of a fragment, and what RPC adds to the data, divided among six.
const HEADERS: usize = 80;
/// The largest listing, in bytes: some 300 entries of a READDIRPLUS, so that what a call costs weighs little beside
/// them, and the reply still fits a buffer that is kept.
const LISTING: u32 = 64 << 10;

/// The most bytes of data in a READ of this client: what FSINFO announces at most.
pub fn data(peer: &Peer) -> u32 {
    if peer.transport.is_datagrams() { DATAGRAM_TRANSFER_MAX } else { TRANSFER_MAX as u32 }
}

/// What FSINFO announces for READ and WRITE of this client. `path_mtu` is asked for clients on other hosts: the loopback
/// interface loses no fragments.
pub fn announced(peer: &Peer, path_mtu: impl FnOnce() -> usize) -> u32 {
    match peer.transport.is_datagrams() {
        false => TRANSFER_MAX as u32,
        true if peer.ends.are_on_one_host() => DATAGRAM_TRANSFER_MAX,
        true => in_fragments(path_mtu()),
    }
}

/// The largest power of two whose datagram has no more fragments than are allowed.
fn in_fragments(path_mtu: usize) -> u32 {
    let room = path_mtu.saturating_sub(HEADERS).saturating_mul(FRAGMENTS);
    let room =
        u32::try_from(room).unwrap_or(DATAGRAM_TRANSFER_MAX).clamp(DATAGRAM_LEAST, DATAGRAM_TRANSFER_MAX);
    1 << room.ilog2()
}

/// The most bytes of a READDIR or READDIRPLUS to this client.
pub fn listing(peer: &Peer) -> u32 {
    match peer.transport.is_datagrams() {
        false => LISTING,
        true if peer.ends.are_on_one_host() => DATAGRAM_TRANSFER_MAX,
        true => DATAGRAM_LEAST,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Transport;
    use crate::calling::peer;

    #[test]
    fn datagrams_have_few_fragments_beyond_this_host() {
        for (client, server, transport, path_mtu, most) in [
            ("192.0.2.1:700", "192.0.2.2:2049", Transport::Tcp, 1500, 1 << 20),
            ("192.0.2.1:700", "192.0.2.2:2049", Transport::Udp, 1500, 8 << 10),
            ("192.0.2.1:700", "192.0.2.2:2049", Transport::Udp, 576, 8 << 10),
            ("192.0.2.1:700", "192.0.2.2:2049", Transport::Udp, 4352, 16 << 10),
            ("192.0.2.1:700", "192.0.2.2:2049", Transport::Udp, 9000, 32 << 10),
            ("192.0.2.1:700", "192.0.2.2:2049", Transport::Udp, usize::MAX, 32 << 10),
            ("192.0.2.2:700", "192.0.2.2:2049", Transport::Udp, 1500, 32 << 10),
            ("127.0.0.1:700", "127.0.0.1:2049", Transport::Udp, 1500, 32 << 10),
            ("[::ffff:127.0.0.1]:700", "[::ffff:127.0.0.1]:2049", Transport::Udp, 1500, 32 << 10),
            ("[::1]:700", "[::1]:2049", Transport::Udp, 1500, 32 << 10),
        ] {
            let peer = peer(client, server, transport);
            assert_eq!(announced(&peer, || path_mtu), most, "{client}, packets of {path_mtu}");
            assert!(data(&peer) >= most, "what is announced is given");
        }
    }

    #[test]
    fn listings_are_small_beyond_this_host() {
        let peer = |client: &str, transport| peer(client, "192.0.2.2:2049", transport);
        assert_eq!(listing(&peer("192.0.2.1:700", Transport::Udp)), 8 << 10);
        assert_eq!(listing(&peer("192.0.2.2:700", Transport::Udp)), 32 << 10);
        assert_eq!(listing(&peer("192.0.2.1:700", Transport::Tcp)), 64 << 10);
    }
}
