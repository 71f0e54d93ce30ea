//! The line of a compound that is written now, with the current and the saved node.

use super::bytes::CompoundBytes;
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
    /// The node that the operation of this line found or made; its pseudonym, once a handle was seen.
    Found(Option<String>),
}

impl Current {
    /// The pseudonym, if a handle was seen.
    pub fn told(&self) -> Option<String> {
        match self {
            Self::Untold | Self::Found(None) => None,
            Self::Told(node) | Self::Found(Some(node)) => Some(node.clone()),
        }
    }

    /// The same for another line.
    pub fn of_next_line(&self) -> Self {
        self.told().map_or(Self::Untold, Self::Told)
    }
}

/// The line that is written now.
pub struct CompoundStory<'c> {
    pub pseudonyms: &'c Pseudonyms,
    pub kept: CompoundBytes<'c>,
    /// Where in the arguments begins what is read now.
    pub from: usize,
    pub call: Call,
    pub current: Current,
    pub saved: Current,
}
