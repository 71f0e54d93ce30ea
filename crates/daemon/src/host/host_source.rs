//! Names and addresses of hosts, by whatever this host asks: files, DNS, what `nsswitch.conf` names.

use std::io;
use std::net::IpAddr;

use howdah_net::host_name;
use howdah_server::exports::HostSource;

use super::resolve::{may_come_later, resolve};

/// The resolver of this host.
pub struct SystemHosts;

impl HostSource for SystemHosts {
    fn name(&self, address: IpAddr) -> io::Result<Option<String>> {
        host_name(address)
    }

    fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        match resolve(name) {
            Err(error) if !may_come_later(&error) => Ok(Vec::new()),
            answer => answer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every host has this line in its `/etc/hosts`; one that has not says that there is no such name.
    #[test]
    fn the_name_of_this_host_leads_back_to_it() {
        let loopback = IpAddr::from([127, 0, 0, 1]);
        if let Some(name) = SystemHosts.name(loopback).expect("files answer") {
            assert!(SystemHosts.addresses(&name).expect("files answer").contains(&loopback), "{name}");
        }
        assert_eq!(SystemHosts.addresses("no such host").ok(), Some(Vec::new()));
    }
}
