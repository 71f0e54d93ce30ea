//! `[cell.netem]`: the kernel's own emulation of a path, for comparing with ours.

use serde::{Deserialize, Serialize};

/// What netem in a guest does to packets on their way to the server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Netem {
    /// As after `tc qdisc add … netem`.
    pub words: String,
    /// Whether it does that in place of the wires, which are then perfect; else it is not there at all.
    pub instead: bool,
}
