//! A netgroup: hosts by names and addresses, as they were listed when the server read them.

use std::collections::HashSet;
use std::net::IpAddr;

/// The hosts of a netgroup. Users and domains of its members do not count.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Netgroup {
    /// What it is called, without the `@`.
    pub name: String,
    /// Whether a member names no host, and so takes all.
    pub takes_all: bool,
    /// Members by address.
    pub addresses: HashSet<IpAddr>,
    /// Members by name, in lower case, with their domain.
    pub hosts: HashSet<String>,
}

impl Netgroup {
    /// Whether this address is a member, whatever the name of its host.
    pub(super) fn takes_address(&self, client: IpAddr) -> bool {
        self.takes_all || self.addresses.contains(&client.to_canonical())
    }

    /// Whether hosts of this name are members.
    pub(super) fn takes_name(&self, name: &str) -> bool {
        self.hosts.contains(name)
    }
}
