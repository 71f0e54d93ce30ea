//! Why a directory cannot be opened as a file system.

use std::fmt;
use std::path::{Path, PathBuf};

/// Why a directory cannot be opened.
#[derive(Debug)]
pub struct OpenError {
    step: &'static str,
    subject: PathBuf,
    cause: std::io::Error,
}

impl OpenError {
    pub(crate) fn new(step: &'static str, subject: &Path, cause: impl Into<std::io::Error>) -> Self {
        Self { step, subject: subject.to_owned(), cause: cause.into() }
    }

    /// What the system said.
    pub fn cause(&self) -> &std::io::Error {
        &self.cause
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}: {}", self.step, self.subject.display(), self.cause)
    }
}

impl std::error::Error for OpenError {}
