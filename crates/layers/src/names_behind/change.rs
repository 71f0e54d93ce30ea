//! Changes that programs were answered, and the calls that make them on the server.

use std::time::Duration;

use bytes::Bytes;
use howdah_vfs::{Caller, FsError, Handle, NewAttributes, Timestamp};

use super::grounds::is_lock_like;
use super::order::{ChangeNumber, NodeNumber, Rank, Touch, TouchedPlace};
use super::tree::MadeNode;

/// A directory, and a name in it.
pub type NameIn<'n> = (NodeNumber, &'n [u8]);

/// What a change of names was answered on: what programs see until the server has it follows from this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AnsweredOn {
    /// When it was, by the server's clock as far as that is known.
    pub time: Timestamp,
    /// Links of the directory.
    pub parent_links: u32,
    /// Links of the node.
    pub links: u32,
    /// Links of what is replaced.
    pub replaced_links: u32,
}

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
    /// `is_awaited`: by what the user renames, links and removes later.
    Set {
        node: NodeNumber,
        new: NewAttributes,
        is_awaited: bool,
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
    /// It comes from a journal: the server may have it already.
    pub is_replayed: bool,
}

/// The call that makes it.
#[derive(Debug)]
pub enum JobCall {
    /// `made`: an earlier process made it there already.
    Make {
        directory: Handle,
        name: Vec<u8>,
        what: MadeNode,
        new: NewAttributes,
        made: Option<Handle>,
    },
    Set {
        node: Handle,
        new: NewAttributes,
    },
    Commit {
        node: Handle,
        shown: Handle,
    },
    Remove {
        directory: Handle,
        name: Vec<u8>,
        is_directory: bool,
        victim: ExpectedVictim,
    },
    Rename {
        node: Handle,
        from: (Handle, Vec<u8>),
        to: (Handle, Vec<u8>),
        replaces: ExpectedVictim,
    },
    Link {
        node: Handle,
        directory: Handle,
        name: Vec<u8>,
    },
}

/// On what grounds a program took a name away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeenBefore {
    /// Only this mount uses the directory: nobody else has changed it.
    Ours,
    /// The node that had the name last changed at this time, as the server says it.
    Changed(Timestamp),
    /// Changes of the node were pending, so that its time is not known.
    Node,
}

/// What a name must lead to when a call takes it away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpectedVictim {
    /// The server's handle of the node; `None`: nothing has the name.
    pub node: Option<Handle>,
    pub seen: SeenBefore,
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
    /// The permissions that it was to have, of a node that was to be made or set.
    pub mode: Option<u32>,
    /// Where a symbolic link was to point; the first path of what was to be renamed or linked.
    pub other: Vec<u8>,
}

impl RefusedLater {
    /// What the making of a file is called.
    pub const FILE: &str = "make";

    /// Bytes of its data.
    pub fn bytes(&self) -> usize {
        self.data.iter().map(|(_, data)| data.len()).sum()
    }
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

    /// What waits for what.
    pub fn rank(&self) -> Rank {
        match self {
            Self::Set { is_awaited: false, .. } => Rank::Times,
            Self::Make { .. } | Self::Set { .. } | Self::Commit { .. } => Rank::Makes,
            Self::Remove { .. } => Rank::Destroys,
            Self::Rename { from, .. } if is_lock_like(&from.1) => Rank::Seals,
            Self::Rename { .. } | Self::Link { .. } => Rank::Names,
        }
    }

    /// What it touches.
    pub fn places(&self) -> Vec<(TouchedPlace, Touch)> {
        let (node, directory) = (
            |id: &NodeNumber| (TouchedPlace::Node(*id), Touch::Alone),
            |id: &NodeNumber| (TouchedPlace::Node(*id), Touch::Shared),
        );
        let names = self.names().into_iter();
        let names =
            names.map(|(directory, name)| (TouchedPlace::Name(directory, name.to_vec()), Touch::Alone));
        let mut places: Vec<_> = names.collect();
        match self {
            Self::Make { node: id, directory: above, .. }
            | Self::Remove { node: id, directory: above, .. }
            | Self::Link { node: id, directory: above, .. } => places.extend([directory(above), node(id)]),
            Self::Set { node: id, .. } | Self::Commit { node: id } => places.push(node(id)),
            Self::Rename { from, to, node: id, replaced } => {
                places.extend([directory(&from.0), directory(&to.0), node(id)]);
                places.extend(replaced.iter().map(node));
            }
        }
        places
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
