//! What the configuration cannot say as the exports file did.

/// A difference, for the administrator to decide about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Line of the exports file, from 1.
    pub line: usize,
    /// What differs, and what to do.
    pub what: String,
    is_loss: bool,
}

impl Warning {
    /// A warning about a line.
    pub fn new(line: usize, what: impl Into<String>) -> Self {
        Self { line, what: what.into(), is_loss: false }
    }

    /// The same about something that was not understood, or that nobody has access by.
    pub fn loss(line: usize, what: impl Into<String>) -> Self {
        Self { is_loss: true, ..Self::new(line, what) }
    }

    /// Whether the configuration lacks what the line says.
    pub fn is_loss(&self) -> bool {
        self.is_loss
    }
}
