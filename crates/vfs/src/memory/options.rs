//! The options of a file system in memory.

use super::{Clock, counting_clock};

/// Settings of a [`MemoryFileSystem`](super::MemoryFileSystem); the default is what tests want.
#[derive(Clone)]
pub struct MemoryOptions {
    /// Where times come from; by default a counter that never says the same twice.
    pub clock: Clock,
    /// Most bytes of file data in whole pages, nodes and names; without it, as much as there is memory.
    pub budget: Option<u64>,
    /// Most hard links of a node that is not a directory; by default as many as ext4 allows.
    pub most_links: u32,
    /// Permission bits of the root directory, which belongs to the superuser.
    pub root_mode: u32,
}

impl Default for MemoryOptions {
    fn default() -> Self {
        Self { clock: counting_clock(), budget: None, most_links: 65_000, root_mode: 0o755 }
    }
}
