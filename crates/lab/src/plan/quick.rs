//! The short form of a plan, which takes under two minutes.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Table;

use super::Time;

/// `[quick]`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Quick {
    /// How often each cell is measured then.
    pub repetitions: Option<u32>,
    /// About how long it takes.
    pub takes: Option<Time>,
    /// Laid over `[cell]`, before factors.
    pub cell: Table,
    /// The labels of levels to keep, by factor.
    pub factors: BTreeMap<String, Vec<String>>,
}
