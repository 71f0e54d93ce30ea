//! The peer spoke wrongly: what, and at which byte.

use std::fmt;

/// Input that is not what the protocol says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeError {
    /// What was being read, such as `"file name"`.
    pub what: &'static str,
    /// Where, in bytes from the start of the input.
    pub at: usize,
    /// What was wrong with it.
    pub problem: DecodeProblem,
}

/// What was wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecodeProblem {
    /// The input ends too early.
    Truncated,
    /// A length above what the protocol (or we) allow.
    TooLong {
        /// The length claimed.
        claimed: u32,
        /// The length allowed.
        limit: u32,
    },
    /// A value that is not one of the choices.
    UnknownValue(u32),
    /// Padding that is not zero.
    Padding,
    /// Bytes left over.
    Trailing(usize),
}

impl fmt::Display for DecodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at byte {}: ", self.what, self.at)?;
        match self.problem {
            DecodeProblem::Truncated => write!(formatter, "the input ends too early"),
            DecodeProblem::TooLong { claimed, limit } => {
                write!(formatter, "length {claimed}, where at most {limit} is allowed")
            }
            DecodeProblem::UnknownValue(value) => write!(formatter, "unknown value {value}"),
            DecodeProblem::Padding => write!(formatter, "padding that is not zero"),
            DecodeProblem::Trailing(count) => write!(formatter, "{count} bytes left over"),
        }
    }
}

impl std::error::Error for DecodeError {}
