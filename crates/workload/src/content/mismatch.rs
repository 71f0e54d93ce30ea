//! What is wrong with data that was read.

use std::fmt;

use super::header::Identity;

/// Data is not what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mismatch {
    /// What the sector should have been.
    pub expected: Identity,
    /// The first byte that differs, as an offset in the file.
    pub offset: u64,
    /// What it was instead.
    pub found: FoundBytes,
}

/// What was found where something else was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundBytes {
    /// A good sector that belongs elsewhere, or that of an earlier writing.
    Other(Identity),
    /// Zeroes: nothing was ever written there, or it was lost.
    Zeroes,
    /// Neither: damaged.
    Damage,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { expected, offset, found } = self;
        write!(formatter, "file {} differs at byte {offset} (sector {}): ", expected.file, expected.sector)?;
        match found {
            FoundBytes::Zeroes => formatter.write_str("zeroes, as if never written"),
            FoundBytes::Damage => formatter.write_str("damaged"),
            FoundBytes::Other(other) if (other.file, other.sector) == (expected.file, expected.sector) => {
                write!(
                    formatter,
                    "writing {} of it is there, writing {} should be",
                    other.generation, expected.generation
                )
            }
            FoundBytes::Other(other) => {
                write!(formatter, "sector {} of file {} is there instead", other.sector, other.file)
            }
        }
    }
}

impl std::error::Error for Mismatch {}
