//! The rungs of the ladder, from below.

use serde::{Deserialize, Serialize};

/// A layer: what stands on one that limits cannot be faster than it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rung {
    /// This host's kernel: its settings, its memory.
    Host,
    /// Its network interfaces.
    Interfaces,
    /// What is between the hosts.
    Path,
    /// What the server keeps its files on.
    Storage,
    /// Calls and replies: sizes, how many are in flight, and mounts of this host's kernel.
    Nfs,
}

impl Rung {
    /// The one word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Interfaces => "interfaces",
            Self::Path => "path",
            Self::Storage => "storage",
            Self::Nfs => "NFS",
        }
    }
}
