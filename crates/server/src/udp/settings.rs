//! How many UDP sockets a server has, and for what.

use std::io;
use std::net::SocketAddr;
use std::thread::available_parallelism;

use howdah_net::UdpSocket;

use crate::limits::UDP_GROUP_MAX;

/// How UDP is served.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UdpSettings {
    /// Sockets that share an address, from 1 to [`UDP_GROUP_MAX`]; `None`: as many as there are processors.
    pub sockets: Option<usize>,
    /// Whether at a wildcard each network interface has such a group of its own, and the address itself one socket for
    /// what they do not take.
    pub per_interface: bool,
}

/// What interfaces have sockets for.
#[derive(Debug, Clone, Default)]
pub struct PerInterface {
    /// The wildcards that are served.
    pub addresses: Vec<SocketAddr>,
    /// Sockets of each interface.
    pub sockets: usize,
}

impl UdpSettings {
    /// One socket for each address.
    pub const ONE: Self = Self { sockets: Some(1), per_interface: false };

    /// How many sockets share an address.
    pub fn group(&self) -> usize {
        self.sockets.unwrap_or_else(|| available_parallelism().map_or(1, usize::from)).clamp(1, UDP_GROUP_MAX)
    }

    /// Whether interfaces have sockets of their own besides those of this address.
    pub fn follows(&self, address: SocketAddr) -> bool {
        self.per_interface && address.ip().is_unspecified()
    }

    /// The sockets of an address, without those of interfaces. Besides those there is but one: the kernel looks for the
    /// socket that fits best until it meets one of a group without an interface, and then takes that.
    pub fn bind(&self, address: SocketAddr) -> io::Result<Vec<UdpSocket>> {
        let first = UdpSocket::bind(address)?;
        let address = first.address();
        let count = if self.follows(address) { 1 } else { self.group() };
        if count > 1 || self.follows(address) {
            first.share()?;
        }
        let mut group = vec![first];
        for _ in 1..count {
            group.push(UdpSocket::bind_beside(address, None)?);
        }
        Ok(group)
    }
}
