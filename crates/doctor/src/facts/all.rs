//! All facts of one run.

use serde::{Deserialize, Serialize};

use super::{HostFacts, InterfaceFacts, MountFacts, NfsFacts, PathFacts, StorageFacts};

/// What was seen of each rung; of those that were not looked at, nothing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// Its target: a URL, or nothing for this host alone.
    pub target: Option<String>,
    /// This host.
    pub host: HostFacts,
    /// Its interfaces.
    pub interfaces: Vec<InterfaceFacts>,
    /// NFS mounts of its kernel.
    pub mounts: Vec<MountFacts>,
    /// The path to the server.
    pub path: Option<PathFacts>,
    /// The other host, where a doctor listens there.
    pub other_host: Option<HostFacts>,
    /// The server's storage.
    pub storage: Option<StorageFacts>,
    /// NFS to it.
    pub nfs: Option<NfsFacts>,
    /// What the path should carry, in bits per second, if somebody said.
    pub expected_bits_per_second: Option<f64>,
    /// Rungs that were to be looked at and could not, and why.
    pub missing: Vec<(crate::Rung, String)>,
}
