//! A command that a client ran on its mount.

/// A command that ended on the mount's host.
#[derive(Debug, Clone, PartialEq)]
pub struct RanOnMount {
    /// What it said.
    pub output: String,
    /// What it took, by the clock of this machine.
    pub seconds: f64,
    /// Seconds of the mount's host in one of this machine's: 1, or a guest's clock went wrong.
    pub clock: f64,
}
