//! Where the model and a subject parted.

use std::fmt;

use super::Operation;

/// The first difference, and the operations that lead to it.
#[derive(Debug, Clone)]
pub struct Difference {
    /// The seed that the list came from, if it came from one.
    pub seed: Option<u64>,
    /// The operations up to the one that differs.
    pub operations: Vec<Operation>,
    /// What the model showed.
    pub model: String,
    /// What the subject showed instead.
    pub subject: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(seed) = self.seed {
            writeln!(formatter, "seed {seed:#x}, shrunk to {} operations:", self.operations.len())?;
        }
        for (number, operation) in self.operations.iter().enumerate() {
            writeln!(formatter, "{number:4}: {operation:?}")?;
        }
        write!(formatter, "   model: {}\n subject: {}", self.model, self.subject)
    }
}

impl std::error::Error for Difference {}
