//! Network ids (RFC 5665 5.1): how a program is reached, by name.

use crate::portmap::Protocol;

/// A network that programs of the internet listen on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Network {
    /// UDP over IPv4.
    Udp,
    /// TCP over IPv4.
    Tcp,
    /// UDP over IPv6.
    Udp6,
    /// TCP over IPv6.
    Tcp6,
}

impl Network {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Udp, Self::Tcp, Self::Udp6, Self::Tcp6];

    /// The network of a protocol, over IPv6 or IPv4. `None`: neither TCP nor UDP.
    pub fn new(protocol: Protocol, over_ipv6: bool) -> Option<Self> {
        match (protocol, over_ipv6) {
            (Protocol::UDP, false) => Some(Self::Udp),
            (Protocol::TCP, false) => Some(Self::Tcp),
            (Protocol::UDP, true) => Some(Self::Udp6),
            (Protocol::TCP, true) => Some(Self::Tcp6),
            _ => None,
        }
    }

    /// Its id.
    pub fn id(self) -> &'static str {
        match self {
            Self::Udp => "udp",
            Self::Tcp => "tcp",
            Self::Udp6 => "udp6",
            Self::Tcp6 => "tcp6",
        }
    }

    /// The network of this id.
    pub fn from_id(id: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|network| network.id().as_bytes() == id)
    }

    /// The protocol over IP.
    pub fn protocol(self) -> Protocol {
        match self {
            Self::Udp | Self::Udp6 => Protocol::UDP,
            Self::Tcp | Self::Tcp6 => Protocol::TCP,
        }
    }

    /// Whether it goes over IPv6, not IPv4.
    pub fn is_ipv6(self) -> bool {
        matches!(self, Self::Udp6 | Self::Tcp6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_network_is_found_by_its_id_and_by_its_parts() {
        for network in Network::ALL {
            assert_eq!(Network::from_id(network.id().as_bytes()), Some(network));
            assert_eq!(Network::new(network.protocol(), network.is_ipv6()), Some(network));
        }
        assert_eq!(Network::from_id(b"rdma"), None);
        assert_eq!(Network::new(Protocol(132), false), None);
    }
}
