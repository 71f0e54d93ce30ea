//! What an operation is for, beside the others of its compound.

use super::{
    access, get_dir_delegation, getattr, getfh, lookup, lookupp, nverify, putfh, putpubfh, putrootfh,
    restorefh, savefh, sequence, verify,
};

/// What an operation is for. A compound is made for its first operation with the greatest role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OperationRole {
    /// It makes a session or a node the current one.
    Prepares,
    /// It asks for a delegation beside what is asked of a directory anyway.
    Asks,
    /// It looks at the current node.
    Looks,
    /// It finds a node, for itself or for what follows.
    Finds,
    /// All others.
    Works,
}

impl OperationRole {
    /// Of an operation by its number (RFC 8881 16.2.3).
    #[inline]
    pub fn of(operation: u32) -> Self {
        match operation {
            sequence::OPERATION
            | putfh::OPERATION
            | putrootfh::OPERATION
            | putpubfh::OPERATION
            | savefh::OPERATION
            | restorefh::OPERATION
            | getfh::OPERATION => Self::Prepares,
            get_dir_delegation::OPERATION => Self::Asks,
            lookup::OPERATION | lookupp::OPERATION => Self::Finds,
            getattr::OPERATION | access::OPERATION | verify::OPERATION | nverify::OPERATION => Self::Looks,
            _ => Self::Works,
        }
    }
}
