//! What is told of a compound so far, and the nodes that its operations are for.

use crate::format::Call;
use crate::pseudonyms::Pseudonyms;

/// The node that operations are for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Current {
    /// None is told: the root of all exports, or a node on the way.
    #[default]
    Untold,
    /// That of a handle, as it is told.
    Told(String),
    /// What the told operation found or made.
    Found,
}

impl Current {
    /// As it is told.
    pub fn told(&self) -> Option<String> {
        if let Self::Told(node) = self { Some(node.clone()) } else { None }
    }
}

/// What is told of a compound so far.
pub struct CompoundStory<'c> {
    pub pseudonyms: &'c Pseudonyms,
    pub call: &'c mut Call,
    pub current: Current,
    pub saved: Current,
}
