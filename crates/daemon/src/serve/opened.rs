//! How an export turned out to be opened: what screens say of it depends on that.

use howdah_store::local::FallBack;
use rustix::thread::{CapabilitySet, capabilities};

/// How an export turned out to be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenedExport {
    /// What its file handles are made of.
    pub handles: Handles,
    /// Whether calls act as the user who makes them, else as the user who runs the server.
    pub acts_as_caller: bool,
    /// Whether ordinary users of this host are kept from calling as other users.
    pub guards_host: bool,
    /// Whether calls of clients leave for another server from ports below 1024: then clients must come from such ports, too. Else any
    /// user of a client could call there as root of this host.
    pub guards_far: bool,
}

/// What file handles are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handles {
    /// Handles of the kernel.
    Kernel,
    /// An index in the state directory.
    Index,
    /// File numbers and times of birth, by that index: those of the kernel do not last, for this reason.
    FileNumbers(FallBack),
    /// Numbers of files in memory.
    Memory,
    /// Handles of another server.
    Server,
}

impl OpenedExport {
    /// A directory, served by root: every rule says what it can say.
    pub const AS_ROOT: Self =
        Self { handles: Handles::Kernel, acts_as_caller: true, guards_host: true, guards_far: false };

    /// An export that is no directory of this host. The users of its clients own its files, not the user who runs the server.
    pub fn elsewhere(handles: Handles) -> Self {
        let guards_far = handles == Handles::Server && has_low_ports();
        Self { handles, acts_as_caller: true, guards_host: rustix::process::geteuid().is_root(), guards_far }
    }
}

/// Whether this process may call from ports below 1024: then it does.
pub fn has_low_ports() -> bool {
    capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::NET_BIND_SERVICE))
}
