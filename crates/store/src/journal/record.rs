//! What is appended to a journal, and how far an append reached.

/// A record. `kind` and `payload` mean what the caller wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalRecord<P = Vec<u8>> {
    /// What kind of record it is.
    pub kind: u8,
    /// The number of the change that it belongs to.
    pub change: u64,
    /// Its content.
    pub payload: P,
}

/// How much was appended to a journal that is open: later appends have higher positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct JournalPosition(pub(super) u64);
