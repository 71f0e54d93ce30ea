//! Whether clients can lock the files of an export.

use std::fmt;

use clap::ValueEnum;

/// Whether clients can lock the files of another server's export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ExportLocks {
    /// Grant locks, which apply only among the clients of this server
    #[default]
    Local,
    /// Refuse every lock at once
    Refuse,
}

impl ExportLocks {
    /// The word in the file.
    pub fn parse(text: &str) -> Option<Self> {
        Self::from_str(text, false).ok()
    }
}

impl fmt::Display for ExportLocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Local => "local",
            Self::Refuse => "refuse",
        })
    }
}
