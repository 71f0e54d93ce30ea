//! One export: what it means, every setting decided.

use std::fmt;

use howdah_layers::CachingOptions;
use howdah_server::exports::TlsPolicy;

use super::{ClientRuleConfig, Delegations, ExportLocks, ExportName, Source};
use crate::disk_cache::DiskCacheSettings;

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
    /// Whether clients see no more space than the quotas of their callers leave.
    pub quota_in_df: bool,
    /// Whether clients may set the set-user-ID and set-group-ID bits of files.
    pub set_id: bool,
    /// What must protect calls.
    pub tls: TlsPolicy,
    /// Which delegations NFSv4 clients are given.
    pub delegations: Delegations,
    /// Whether clients can lock files of another server.
    pub locks: ExportLocks,
    /// How another server's export is cached; `None`: not at all.
    pub caching: Option<CachingOptions>,
    /// Where its data is kept over restarts, if anywhere.
    pub disk_cache: Option<DiskCacheSettings>,
    /// Whether other heads of a cluster serve the same files.
    pub shared: bool,
    /// Who may mount it, and how; the first rule that fits a client holds for it.
    pub clients: Vec<ClientRuleConfig>,
}

/// When a change is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// When it is as safe as the protocol asks for.
    Sync,
    /// At once: it may be lost if this machine fails.
    Async,
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
