//! What the configuration cannot say as the exports file did.

/// A difference, for the administrator to decide about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Line of the exports file, from 1.
    pub line: usize,
    /// What differs, and what to do.
    pub what: String,
}

impl Warning {
    /// A warning about a line.
    pub fn new(line: usize, what: impl Into<String>) -> Self {
        Self { line, what: what.into() }
    }
}
