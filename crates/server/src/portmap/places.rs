//! Where this server is reached: each network of each listener.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use howdah_wire::portmap::{PORT, PROGRAM, Protocol};
use howdah_wire::rpcbind::Network;

use crate::Transport;
use crate::programs::Served;

/// One network of one listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The network.
    pub network: Network,
    /// The address listened at, in that network.
    pub address: SocketAddr,
}

/// Which versions of a program will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Any: a caller that asks for a version which is not served then learns from the program itself which ones are.
    Any,
    /// This one.
    Version(u32),
}

/// All places of these listeners. One on the IPv6 wildcard takes IPv4 clients too, so it makes two.
pub fn places(listeners: &[(Transport, SocketAddr)]) -> Vec<Place> {
    let mut places = Vec::with_capacity(2 * listeners.len());
    for &(transport, address) in listeners {
        let ipv6 = address.is_ipv6();
        places.push(Place { network: network(transport, ipv6), address });
        if ipv6 && address.ip().is_unspecified() {
            let address = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), address.port());
            places.push(Place { network: network(transport, false), address });
        }
    }
    places
}

/// The places to tell for a program. Every program is served on every port, but each has one where it is looked for: the
/// portmapper its own, and all others any but that.
pub fn places_of(served: &Served, listeners: &[(Transport, SocketAddr)]) -> Vec<Place> {
    let mut all = places(listeners);
    all.retain(|place| served.takes_datagrams || place.network.protocol() != Protocol::UDP);
    let fits = |place: &Place| (place.address.port() == PORT) == (served.program == PROGRAM);
    let fitting = |network: Network| all.iter().any(|place| place.network == network && fits(place));
    all.iter().filter(|place| fits(place) || !fitting(place.network)).copied().collect()
}

/// The port on which a client that reached this server at `asked` reaches a program over this network.
pub fn port(
    listeners: &[(Transport, SocketAddr)],
    program: u32,
    network: Network,
    asked: IpAddr,
) -> Option<u16> {
    let reached = |place: &Place| {
        place.network == network && (place.address.ip().is_unspecified() || place.address.ip() == asked)
    };
    let ports = places(listeners).into_iter().filter(reached).map(|place| place.address.port());
    ports.min_by_key(|&port| (port == PORT) != (program == PROGRAM))
}

/// The network of a transport.
pub fn network(transport: Transport, ipv6: bool) -> Network {
    match (transport, ipv6) {
        (Transport::Udp, false) => Network::Udp,
        // Ports of QUIC are not registered.
        (Transport::Tcp | Transport::Quic, false) => Network::Tcp,
        (Transport::Udp, true) => Network::Udp6,
        (Transport::Tcp | Transport::Quic, true) => Network::Tcp6,
    }
}

/// The name of a network's protocol and of its family in TI-RPC.
pub fn protocol_and_family(network: Network) -> (&'static str, &'static str) {
    let protocol = if network.protocol() == Protocol::TCP { "tcp" } else { "udp" };
    (protocol, if network.is_ipv6() { "inet6" } else { "inet" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> SocketAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn the_ipv6_wildcard_is_two_places() {
        let listeners = [(Transport::Tcp, address("[::]:2049")), (Transport::Udp, address("[::1]:2049"))];
        assert_eq!(
            places(&listeners),
            [
                Place { network: Network::Tcp6, address: address("[::]:2049") },
                Place { network: Network::Tcp, address: address("0.0.0.0:2049") },
                Place { network: Network::Udp6, address: address("[::1]:2049") },
            ]
        );
    }

    #[test]
    fn a_port_is_told_only_where_it_is_reached() {
        let listeners = [
            (Transport::Tcp, address("0.0.0.0:111")),
            (Transport::Tcp, address("192.0.2.7:2049")),
            (Transport::Tcp, address("192.0.2.8:2050")),
        ];
        let port = |program, asked: &str| {
            port(&listeners, program, Network::Tcp, asked.parse().expect("an address"))
        };
        assert_eq!(port(PROGRAM, "192.0.2.7"), Some(111));
        assert_eq!(port(PROGRAM, "192.0.2.8"), Some(111));
        assert_eq!(port(1, "192.0.2.7"), Some(2049));
        assert_eq!(port(1, "192.0.2.9"), Some(111));
    }

    #[test]
    fn the_portmapper_without_its_own_port_is_where_the_rest_is() {
        let listeners = [(Transport::Udp, address("[::]:2049"))];
        let asked = Ipv4Addr::LOCALHOST.into();
        assert_eq!(port(&listeners, PROGRAM, Network::Udp, asked), Some(2049));
        assert_eq!(port(&listeners, PROGRAM, Network::Tcp, asked), None);
    }
}
