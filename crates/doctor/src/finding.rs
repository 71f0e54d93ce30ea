//! Something that a judge found.

use serde::Serialize;

use crate::Remedy;

/// What was found, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Whether it limits; else it is worth knowing.
    pub is_fault: bool,
    /// A sentence with the figures behind it.
    pub says: String,
    /// What would mend it.
    pub remedies: Vec<Remedy>,
}

impl Finding {
    /// It limits.
    pub fn fault(says: impl Into<String>) -> Self {
        Self { is_fault: true, says: says.into(), remedies: Vec::new() }
    }

    /// It is worth knowing.
    pub fn note(says: impl Into<String>) -> Self {
        Self { is_fault: false, ..Self::fault(says) }
    }

    /// With something that would mend it.
    #[must_use]
    pub fn mended_by(mut self, remedy: Remedy) -> Self {
        self.remedies.push(remedy);
        self
    }
}
