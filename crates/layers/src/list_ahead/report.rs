//! What was listed ahead.

/// What a layer that lists ahead did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ListAheadReport {
    /// Directories that were listed before a program listed them.
    pub listed: u64,
    /// Of those, how many a program listed then, or looked names up in.
    pub used: u64,
}
