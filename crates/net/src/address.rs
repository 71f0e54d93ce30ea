//! Addresses: one spelling for each, and whether one is this host's own.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

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

/// Whether a server's address is one of this host's. A datagram socket that is connected to it is asked which address it
/// would come from; nothing is sent.
pub fn is_on_this_host(server: IpAddr) -> bool {
    let local = || {
        let socket = UdpSocket::bind((unspecified_like(server), 0))?;
        socket.connect((server, ANY_PORT))?;
        socket.local_addr()
    };
    server.is_loopback() || local().is_ok_and(|local| local.ip() == server)
}

/// Any address of the family of this one.
pub(crate) fn unspecified_like(other: IpAddr) -> IpAddr {
    if other.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() }
}

/// A port is needed to be connected; which does not matter.
const ANY_PORT: u16 = 9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_on_this_host_and_an_address_of_nobody_is_not() {
        let check = |address: &str, wanted: bool| {
            assert_eq!(is_on_this_host(address.parse().expect("an address")), wanted, "{address}");
        };
        check("127.0.0.1", true);
        check("127.9.8.7", true);
        check("::1", true);
        check("192.0.2.1", false);
    }
}
