//! Which delegations an export gives to NFSv4 clients.

use std::fmt;

use clap::ValueEnum;

/// Which delegations NFSv4 clients are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Delegations {
    /// Where each change is noticed, by clients and by programs of this host.
    Auto,
    /// None.
    #[default]
    None,
    /// For reading, even where changes may go unnoticed.
    Read,
}

impl Delegations {
    /// The word in the file.
    pub fn parse(text: &str) -> Option<Self> {
        Self::from_str(text, false).ok()
    }
}

impl fmt::Display for Delegations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::None => "none",
            Self::Read => "read",
        })
    }
}
