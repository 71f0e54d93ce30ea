//! What a network is to be like: hosts, and wires between them. Read from a plan or made from flags; nothing exists yet.

use std::collections::BTreeMap;

use howdah_link::PathSpec;
use serde::{Deserialize, Serialize};

/// Hosts and wires by name. A wire's name is that of its interface at both ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Topology {
    /// The hosts.
    pub hosts: BTreeMap<String, HostSpec>,
    /// The wires, which are numbered in the order of their names.
    pub wires: BTreeMap<String, WireSpec>,
}

/// A host.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HostSpec {
    /// Settings of its kernel by their names, such as `net.ipv4.tcp_rmem`: those that every network namespace has of its own.
    pub sysctls: BTreeMap<String, String>,
}

/// A wire between two hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WireSpec {
    /// Its ends. The second, usually the server, has address 1, the first has address 2.
    #[serde(default = "client_and_server")]
    pub between: [String; 2],
    /// What it does to packets: there is from the first host to the second, back is from the second to the first.
    #[serde(default)]
    pub path: PathSpec,
    /// Where chance on it begins.
    #[serde(default)]
    pub seed: u64,
    /// Its threads run before whatever else runs, where that is allowed, for half of the time at most: its delays are exact
    /// while hosts work.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub punctual: bool,
}

impl Default for WireSpec {
    fn default() -> Self {
        Self::new(PathSpec::default(), 0)
    }
}

impl WireSpec {
    /// A wire between `client` and `server`.
    pub fn new(path: PathSpec, seed: u64) -> Self {
        Self { between: client_and_server(), path, seed, punctual: false }
    }
}

impl Topology {
    /// Hosts `client` and `server`, and the wire `path0` between them.
    pub fn pair(wire: WireSpec) -> Self {
        let hosts = wire.between.iter().map(|name| (name.clone(), HostSpec::default())).collect();
        Self { hosts, wires: BTreeMap::from([("path0".to_owned(), wire)]) }
    }
}

impl Default for Topology {
    fn default() -> Self {
        Self::pair(WireSpec::default())
    }
}

fn client_and_server() -> [String; 2] {
    ["client".to_owned(), "server".to_owned()]
}
