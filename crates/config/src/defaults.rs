//! Defaults and bounds, each with its reason; the table in docs/manual/configuration.md repeats them.

use std::path::PathBuf;
use std::time::Duration;

/// The port that IANA gave to NFS. Clients try it when they are given no port, and it needs no privilege.
pub const DEFAULT_PORT: u16 = 2049;

/// User and group `nobody` and `nogroup`, as in other servers.
pub const ANONYMOUS: u32 = 65534;

/// More threads than this wait on each other's locks, not on disks.
pub const MOST_WORKERS: u64 = 1024;

/// Enough for any real file; more is the wrong file.
pub const LARGEST_FILE: u64 = 4 << 20;

/// How long a client of NFSv4 keeps what it has without a word from it: what Linux's server gives.
pub const LEASE: Duration = Duration::from_secs(90);
/// A shorter lease would end while a client waits for one lost packet; it is for experiments.
pub const SHORTEST_LEASE: u64 = 1;
/// With a longer lease a crashed client would block others for too long.
pub const LONGEST_LEASE: u64 = 3600;

/// Where root keeps what survives a restart.
const STATE_OF_ROOT: &str = "/var/lib/howdah";

/// The state directory if none was named: root's is the system's, a user's is under his home. `None` if the user
/// has no home to hold one.
pub fn state_directory() -> Option<PathBuf> {
    if rustix::process::geteuid().is_root() {
        return Some(PathBuf::from(STATE_OF_ROOT));
    }
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_STATE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))
        .map(|state| state.join("howdah"))
}
