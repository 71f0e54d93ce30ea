//! Which addresses the ends of a wire have.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Bits of an address that all of a wire's ends have in common.
pub const PREFIX4: u8 = 24;
/// See [`PREFIX4`].
pub const PREFIX6: u8 = 64;

/// The addresses of a host on a wire. Wire number `W` is 10.77.W.0/24 and fd77:W::/64, with the number in hexadecimal in the
/// latter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Addresses {
    /// IPv4.
    pub v4: Ipv4Addr,
    /// IPv6; None where the machine has none.
    pub v6: Option<Ipv6Addr>,
}

impl Addresses {
    /// Of the end with that number on the wire with that number: the second host has address 1, the first has 2.
    pub(super) fn new(wire: u8, end: usize, ipv6: bool) -> Self {
        let host = if end == 1 { 1 } else { 2 };
        Self {
            v4: Ipv4Addr::new(10, 77, wire, host),
            v6: ipv6.then(|| Ipv6Addr::new(0xfd77, wire.into(), 0, 0, 0, 0, 0, host.into())),
        }
    }

    /// All of them, IPv4 first.
    pub fn all(&self) -> impl Iterator<Item = IpAddr> {
        [Some(IpAddr::V4(self.v4)), self.v6.map(IpAddr::V6)].into_iter().flatten()
    }
}
