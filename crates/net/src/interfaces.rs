//! The network interfaces of this host, as they are now.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;

use nix::ifaddrs::getifaddrs;
use nix::net::if_::{InterfaceFlags, if_nametoindex};
use nix::sys::socket::SockaddrStorage;

/// A network interface.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Interface {
    /// What it is called.
    pub name: String,
    /// The kernel's number of it: another one, if it was removed and one of the same name made.
    pub index: u32,
    /// Whether it may carry packets.
    pub is_up: bool,
    /// Whether it is a part of another one, as in a bond: what it receives comes in there.
    pub is_part: bool,
    /// Its addresses.
    pub addresses: Vec<IpAddr>,
}

/// All interfaces of the network namespace of the calling thread, by name.
pub fn interfaces() -> io::Result<Vec<Interface>> {
    let mut found: BTreeMap<String, Interface> = BTreeMap::new();
    for entry in getifaddrs()? {
        // An address may have a label, which begins with the interface's name.
        let name = entry.interface_name.split(':').next().unwrap_or_default();
        if !found.contains_key(name) {
            // One that has gone meanwhile has no number.
            let Ok(index) = if_nametoindex(name) else { continue };
            let is_up = entry.flags.contains(InterfaceFlags::IFF_UP);
            let is_part = entry.flags.contains(InterfaceFlags::IFF_SLAVE);
            let name = name.to_owned();
            found.insert(name.clone(), Interface { name, index, is_up, is_part, addresses: Vec::new() });
        }
        if let (Some(interface), Some(address)) = (found.get_mut(name), entry.address.as_ref().and_then(ip)) {
            interface.addresses.push(address);
        }
    }
    Ok(found.into_values().collect())
}

fn ip(address: &SockaddrStorage) -> Option<IpAddr> {
    if let Some(address) = address.as_sockaddr_in() {
        return Some(address.ip().into());
    }
    address.as_sockaddr_in6().map(|address| address.ip().into())
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn loopback_is_there() {
        let all = interfaces().expect("a list");
        let loopback = all.iter().find(|interface| interface.name == "lo").expect("loopback");
        assert!(loopback.is_up && !loopback.is_part && loopback.index > 0);
        assert!(loopback.addresses.contains(&Ipv4Addr::LOCALHOST.into()), "{loopback:?}");
    }
}
