//! Addresses: one spelling for each, and whether one is this host's own.

use std::net::{IpAddr, SocketAddr};

/// The address with an IPv4 address inside IPv6 spelled as IPv4: a client is one client, whichever socket it came in
/// by.
pub fn canonical(address: SocketAddr) -> SocketAddr {
    match address.ip().to_canonical() {
        IpAddr::V4(plain) => SocketAddr::new(plain.into(), address.port()),
        // As it is, with the interface that a link-local address belongs to.
        IpAddr::V6(_) => address,
    }
}

/// Whether two ends of a connection are on one host.
pub fn is_local(client: IpAddr, server: IpAddr) -> bool {
    client.is_loopback() || client == server
}
