//! What a network is to be like: hosts, and wires between them. Read from a plan or made from flags; nothing exists yet.

use std::collections::BTreeMap;

use howdah_link::PathSpec;
use howdah_link::quantity::Bitrate;
use serde::{Deserialize, Serialize};

/// Wires that carry no more than this together, each way, are punctual by default: they have so little to do that hosts lose
/// nothing to them (measured in `docs/decisions/0012-wires-on-time.md`).
const PUNCTUAL_RATE: Bitrate = Bitrate(1_000_000_000);

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
    /// A wire between `client` and `server`, punctual if wires like it are.
    pub fn new(path: PathSpec, seed: u64) -> Self {
        let punctual = are_punctual([&path]);
        Self { between: client_and_server(), path, seed, punctual }
    }
}

/// Whether wires with these paths, all that a network has, are punctual by default.
pub fn are_punctual<'a>(paths: impl IntoIterator<Item = &'a PathSpec>) -> bool {
    let rate = |path: &PathSpec| Some(path.there.line_rate()?.0.max(path.back.line_rate()?.0));
    let together = paths.into_iter().map(rate).try_fold(0_u64, |sum, rate| Some(sum.saturating_add(rate?)));
    together.is_some_and(|together| together <= PUNCTUAL_RATE.0)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wires_with_little_to_do_are_punctual() {
        let path = |text: &str| toml::from_str::<PathSpec>(text).expect("a path");
        let (gigabit, tenth) = (path("rate = '1Gbit'"), path("rate = '100Mbit'"));
        assert!(are_punctual([&gigabit]));
        assert!(are_punctual([&tenth; 3]));
        assert!(!are_punctual([&gigabit, &tenth]));
        assert!(!are_punctual([&path("rate = '2.5Gbit'")]));
        assert!(!are_punctual([&path("rtt = '100ms'")]), "as fast as it can");
        assert!(!are_punctual([&path("[back]\nrate = '1Gbit'")]), "there as fast as it can");
    }
}
