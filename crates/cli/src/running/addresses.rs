//! The addresses of this machine.

use std::net::IpAddr;

use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;

use crate::report::worth_showing;

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
