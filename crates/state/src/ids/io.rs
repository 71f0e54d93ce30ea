//! What is done with the data of files, and by what right.

use super::{OpenId, ShareAccess};

/// What is to be done with a file's data by a stateid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoKind {
    /// READ and what is like it.
    Read,
    /// WRITE, SETATTR of the size, ALLOCATE and what is like them.
    Write,
}

/// By what right I/O runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoPermit {
    /// An open that allows it: what the caller may do was settled then.
    Open(OpenId),
    /// No open (anonymous, READ bypass): check what the caller may do.
    Special,
}

impl IoKind {
    /// What an open must allow for it.
    pub fn needs(self) -> ShareAccess {
        match self {
            Self::Read => ShareAccess::READ,
            Self::Write => ShareAccess::WRITE,
        }
    }
}
