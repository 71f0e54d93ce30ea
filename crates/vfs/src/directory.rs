//! Reading a directory.

use crate::{Attributes, Handle};

/// A node as LOOKUP, CREATE or READDIRPLUS gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// Names it.
    pub handle: Handle,
    /// What it is like.
    pub attributes: Attributes,
}

/// How much a listing has of each entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Name and file number (READDIR).
    Names,
    /// Handle and attributes too (READDIRPLUS).
    Nodes,
}

/// One entry of a listing, borrowed for as long as the sink looks at it.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// The name; `.` and `..` are among them.
    pub name: &'a [u8],
    /// The node's number within its file system (`Attributes::file`).
    pub file: u64,
    /// Goes on after this entry when given to `read_directory`; never 0, and stays valid while the directory
    /// changes.
    pub cookie: u64,
    /// Handle and attributes, for [`Detail::Nodes`]; `None` where they cannot be had (a node that went away
    /// meanwhile, or one behind a mount that the export does not cross).
    pub node: Option<&'a Node>,
}

/// How a listing ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listing {
    /// Whether the last entry given was the last of the directory.
    pub end: bool,
    /// The directory's own attributes, if they came for free or nearly so.
    pub directory: Option<Attributes>,
}
