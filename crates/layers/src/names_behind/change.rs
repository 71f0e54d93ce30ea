//! Changes that programs were answered, and the calls that make them on the server.

use std::time::Duration;

use bytes::Bytes;
use howdah_vfs::{Caller, FsError, Handle, NewAttributes};

use super::order::{ChangeNumber, NodeNumber};
use super::tree::MadeNode;

/// A directory, and a name in it.
pub type NameIn<'n> = (NodeNumber, &'n [u8]);

/// A change that programs were answered.
#[derive(Debug)]
pub struct LoggedChange {
    pub caller: Caller,
    pub kind: LoggedKind,
    /// When it was answered.
    pub at: Duration,
}

/// What a change does.
#[derive(Debug, Clone)]
pub enum LoggedKind {
    Make {
        node: NodeNumber,
        directory: NodeNumber,
        name: Vec<u8>,
    },
    Set {
        node: NodeNumber,
        new: NewAttributes,
    },
    Commit {
        node: NodeNumber,
    },
    Remove {
        directory: NodeNumber,
        name: Vec<u8>,
        node: NodeNumber,
        is_directory: bool,
    },
    Rename {
        from: (NodeNumber, Vec<u8>),
        to: (NodeNumber, Vec<u8>),
        node: NodeNumber,
        replaced: Option<NodeNumber>,
    },
    Link {
        node: NodeNumber,
        directory: NodeNumber,
        name: Vec<u8>,
    },
}

/// A change that may be sent now, by the server's handles.
#[derive(Debug)]
pub struct ChangeJob {
    pub number: ChangeNumber,
    pub caller: Caller,
    pub call: JobCall,
}

/// The call that makes it.
#[derive(Debug)]
pub enum JobCall {
    Make { directory: Handle, name: Vec<u8>, what: MadeNode, new: NewAttributes },
    Set { node: Handle, new: NewAttributes },
    Commit { node: Handle, shown: Handle },
    Remove { directory: Handle, name: Vec<u8>, is_directory: bool },
    Rename { node: Handle, from: (Handle, Vec<u8>), to: (Handle, Vec<u8>) },
    Link { node: Handle, directory: Handle, name: Vec<u8> },
}

/// A change that the server refused after programs were answered.
#[derive(Debug, Clone)]
pub struct RefusedLater {
    /// What it was, such as `make`.
    pub kind: &'static str,
    /// The name, from the directory nearest to the root that was made here.
    pub path: Vec<u8>,
    /// Who made it.
    pub caller: Caller,
    /// The server's reason.
    pub why: FsError,
    /// Data of a file that is not on the server.
    pub data: Vec<(u64, Bytes)>,
}

impl LoggedKind {
    /// The nodes that it needs.
    pub fn nodes(&self) -> Vec<NodeNumber> {
        match self {
            Self::Make { node, directory, .. }
            | Self::Remove { node, directory, .. }
            | Self::Link { node, directory, .. } => {
                vec![*node, *directory]
            }
            Self::Set { node, .. } | Self::Commit { node } => vec![*node],
            Self::Rename { from, to, node, replaced, .. } => {
                let mut nodes = vec![from.0, to.0, *node];
                nodes.extend(replaced);
                nodes
            }
        }
    }

    /// The names that it changes.
    pub fn names(&self) -> Vec<(NodeNumber, &[u8])> {
        match self {
            Self::Make { directory, name, .. }
            | Self::Remove { directory, name, .. }
            | Self::Link { directory, name, .. } => {
                vec![(*directory, name)]
            }
            Self::Rename { from, to, .. } => vec![(from.0, &from.1), (to.0, &to.1)],
            Self::Set { .. } | Self::Commit { .. } => Vec::new(),
        }
    }
}
