//! The extended attributes of a node.

use std::collections::BTreeMap;

/// Bytes that an attribute takes beside its name and value.
const ATTRIBUTE: u64 = 64;

/// The extended attributes of a node.
#[derive(Default)]
pub(super) struct Xattrs(pub(super) BTreeMap<Box<[u8]>, Box<[u8]>>);

impl Xattrs {
    /// Bytes in use.
    pub(super) fn used(&self) -> u64 {
        self.0.iter().map(|(name, value)| used_by(name, value)).sum()
    }

    /// Bytes of all names, as Linux counts them.
    pub(super) fn names_length(&self) -> usize {
        self.0.keys().map(|name| listed(name)).sum()
    }
}

/// Bytes that an attribute takes.
pub(super) fn used_by(name: &[u8], value: &[u8]) -> u64 {
    ATTRIBUTE + (name.len() + value.len()) as u64
}

/// Bytes that a name takes in a list of them.
pub(super) fn listed(name: &[u8]) -> usize {
    "user.".len() + name.len() + 1
}
