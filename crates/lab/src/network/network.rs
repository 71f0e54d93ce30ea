//! A network that exists.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::{Addresses, LabHost, Wire};
use crate::sandbox::SandboxNames;

/// Hosts and the wires between them. Dropped, all of it is gone, but for a host in which processes still run: that one
/// goes with the last of them.
#[derive(Debug)]
pub struct LabNetwork {
    // Wires first: nothing arrives at a host that is gone.
    pub(super) wires: BTreeMap<String, Wire>,
    pub(super) hosts: BTreeMap<String, LabHost>,
    /// What its hosts are called in a sandbox.
    pub(super) names: Option<SandboxNames>,
}

impl LabNetwork {
    /// Has its hosts keep these names as long as it lives.
    pub(crate) fn keep(&mut self, names: SandboxNames) {
        self.names = Some(names);
    }

    /// A host.
    ///
    /// # Panics
    /// If there is none of that name: the caller has the topology, or asks [`LabNetwork::hosts`].
    pub fn host(&self, name: &str) -> &LabHost {
        self.hosts.get(name).unwrap_or_else(|| panic!("no host {name} in this network"))
    }

    /// A wire.
    ///
    /// # Panics
    /// As [`LabNetwork::host`].
    pub fn wire(&self, name: &str) -> &Wire {
        self.wires.get(name).unwrap_or_else(|| panic!("no wire {name} in this network"))
    }

    /// All hosts, by name.
    pub fn hosts(&self) -> &BTreeMap<String, LabHost> {
        &self.hosts
    }

    /// All wires, by name.
    pub fn wires(&self) -> &BTreeMap<String, Wire> {
        &self.wires
    }

    /// The IPv4 address of a host on a wire.
    ///
    /// # Panics
    /// As [`LabNetwork::host`], and if the host is not on that wire.
    pub fn address(&self, host: &str, wire: &str) -> IpAddr {
        self.addresses(host, wire).v4.into()
    }

    /// All addresses of a host on a wire.
    ///
    /// # Panics
    /// As [`LabNetwork::address`].
    pub fn addresses(&self, host: &str, wire: &str) -> Addresses {
        let addresses = self.host(host).addresses.get(wire);
        *addresses.unwrap_or_else(|| panic!("host {host} is not on wire {wire}"))
    }
}
