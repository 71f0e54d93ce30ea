//! The addresses of this machine.

use std::net::{IpAddr, Ipv6Addr};

use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;

/// The addresses under which other machines may know this one, of interfaces that are up.
pub fn own_addresses() -> Vec<IpAddr> {
    let Ok(interfaces) = getifaddrs() else { return Vec::new() };
    interfaces
        .filter(|interface| interface.flags.contains(InterfaceFlags::IFF_UP | InterfaceFlags::IFF_RUNNING))
        .filter_map(|interface| {
            let address = interface.address?;
            let v4 = address.as_sockaddr_in().map(|v4| IpAddr::V4(v4.ip()));
            v4.or_else(|| address.as_sockaddr_in6().map(|v6| IpAddr::V6(v6.ip())))
        })
        .filter(|address| worth_showing(*address))
        .collect()
}

/// Whether an address of an interface is worth showing: those that need a zone, or are for this machine only, are
/// not.
pub fn worth_showing(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => !ip.is_loopback() && !ip.is_link_local() && !ip.is_unspecified(),
        IpAddr::V6(ip) => !ip.is_loopback() && !is_link_local(ip) && !ip.is_unspecified(),
    }
}

fn is_link_local(ip: Ipv6Addr) -> bool {
    ip.segments()[0] & 0xffc0 == 0xfe80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_local_needs_a_zone() {
        for (text, shown) in
            [("fe80::1", false), ("fd00::1", true), ("169.254.1.1", false), ("127.0.0.1", false)]
        {
            assert_eq!(worth_showing(text.parse().expect("address")), shown, "{text}");
        }
    }
}
