//! One export: what it means, every setting decided.

use std::fmt;

use clap::ValueEnum;
use howdah_layers::CachingOptions;

use super::{ClientRule, ExportName, Source};

/// An export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportConfig {
    /// What clients write after `HOST:`.
    pub name: ExportName,
    /// Where its files come from.
    pub source: Source,
    /// Stands in every file handle; the same after every restart, or clients lose their files.
    pub id: u32,
    /// When a change is answered.
    pub durability: Durability,
    /// Whether clients may walk into other file systems mounted below.
    pub cross_mounts: bool,
    /// Whether clients may set the set-user-ID and set-group-ID bits of files.
    pub set_id: bool,
    /// How another server's export is cached; `None`: not at all.
    pub caching: Option<CachingOptions>,
    /// Who may mount it, and how; the first rule that fits a client holds for it.
    pub clients: Vec<ClientRule>,
}

/// What a client may do, and as whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Whether every change is refused.
    pub read_only: bool,
    /// Which calls must come from a port below 1024.
    pub privileged_ports: PrivilegedPorts,
    /// Whose calls act as the anonymous user.
    pub squash: Squash,
    /// User id of the anonymous user.
    pub anonymous_user: u32,
    /// Group id of the anonymous user.
    pub anonymous_group: u32,
}

/// Whose calls act as the anonymous user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Squash {
    /// The client's root; others act as themselves
    Root,
    /// Everybody
    All,
    /// Nobody: the client's root is root here
    None,
}

/// Which calls must come from a port below 1024.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PrivilegedPorts {
    /// All
    Always,
    /// Those from this host, if howdah acts as its callers
    Local,
    /// None
    Never,
}

/// When a change is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// When it is as safe as the protocol asks for.
    Sync,
    /// At once: it may be lost if this machine fails.
    Async,
}

impl Squash {
    /// The word in the file.
    pub fn parse(text: &str) -> Option<Self> {
        Self::from_str(text, false).ok()
    }
}

impl fmt::Display for Squash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Root => "root",
            Self::All => "all",
            Self::None => "none",
        })
    }
}

impl Durability {
    /// The word in the file.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "sync" => Some(Self::Sync),
            "async" => Some(Self::Async),
            _ => None,
        }
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sync => "sync",
            Self::Async => "async",
        })
    }
}
