//! Where a workload runs: a file system and a directory in it.

use std::sync::Arc;

use howdah_vfs::{Caller, FileSystem, Handle};
use serde::Serialize;

use crate::counters::CallCounters;

/// A directory of a file system, and who works in it.
#[derive(Clone)]
pub struct Place {
    /// What a person calls it.
    pub name: String,
    /// What it is.
    pub kind: PlaceKind,
    /// The file system.
    pub file_system: Arc<dyn FileSystem>,
    /// Who asks.
    pub caller: Caller,
    /// The directory to work in.
    pub directory: Handle,
    /// Who counts the calls made for it, where somebody does.
    pub counters: Option<Arc<dyn CallCounters>>,
}

/// What a place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlaceKind {
    /// Memory of this process.
    Memory,
    /// A local directory or a mount.
    Directory,
    /// An NFS server, by this process' own client.
    Nfs,
}

impl PlaceKind {
    /// Whether a call may be carried out twice: sent again to a server that forgot meanwhile that it had answered. The second
    /// answer then shows the first ("exists", "not found").
    pub fn may_repeat_calls(self) -> bool {
        self == Self::Nfs
    }
}
