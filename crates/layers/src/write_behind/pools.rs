//! The threads of a write-behind. COMMITs have their own: they wait for writes, which must not wait for them.

use howdah_threads::{AtEnd, Threads};

/// The most COMMITs at a time that nobody asked for.
const COMMITS_MAX: usize = 32;

/// Both kinds.
pub struct Pools {
    pub writes: Threads,
    pub commits: Threads,
}

impl Pools {
    pub fn new(writes: usize) -> Self {
        Self {
            writes: Threads::new("write-behind", writes, AtEnd::DropJobs),
            commits: Threads::new("commit-ahead", COMMITS_MAX, AtEnd::DropJobs),
        }
    }
}
