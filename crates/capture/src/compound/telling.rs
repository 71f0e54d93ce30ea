//! The record of a compound so far, with the current and the saved node.

use crate::format::Call;
use crate::pseudonyms::Pseudonyms;

/// The node that operations are for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Current {
    /// No handle was seen: the root of all exports, or a directory on a path.
    #[default]
    Untold,
    /// The node of a handle, by its pseudonym.
    Told(String),
    /// The node that the recorded operation found or made.
    Found,
}

impl Current {
    /// The pseudonym, if a handle was seen.
    pub fn told(&self) -> Option<String> {
        if let Self::Told(node) = self { Some(node.clone()) } else { None }
    }
}

/// The record of a compound so far.
pub struct CompoundStory<'c> {
    pub pseudonyms: &'c Pseudonyms,
    pub call: &'c mut Call,
    pub current: Current,
    pub saved: Current,
}
