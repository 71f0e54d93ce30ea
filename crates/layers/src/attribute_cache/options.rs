//! For how long what was seen is believed.

use std::time::Duration;

/// How long attributes are believed: `file_min` or `directory_min` after a change was seen, twice as long each time that
/// asking again shows none, up to `file_max` or `directory_max`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttributeCacheOptions {
    /// Of a file that has just changed (Linux: `acregmin`).
    pub file_min: Duration,
    /// Of a directory that has just changed (Linux: `acdirmin`).
    pub directory_min: Duration,
    /// Of a file, however quiet (Linux: `acregmax`).
    pub file_max: Duration,
    /// Of a directory, however quiet (Linux: `acdirmax`).
    pub directory_max: Duration,
    /// Which names are remembered (Linux: `lookupcache`).
    pub lookups: LookupCache,
    /// For how long it is believed that a directory has no such name, since somebody last looked at the directory. Then one
    /// GETATTR of the directory decides. A file that another host has just made is often waited for: a flag, a spool file, a
    /// lock.
    pub absence: Duration,
    /// The most nodes remembered, and the most names. A node with a name takes about 600 bytes.
    pub entries: usize,
    /// Whether nobody else changes the tree, as the user says. Then an open asks nothing that is known, and what a server sends
    /// is compared with it. Once it differs, the times of the default are in effect.
    pub alone: bool,
}

/// Which names are remembered: the values of the mount option `lookupcache` in nfs(5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LookupCache {
    /// Those that are there, and those that are not.
    #[default]
    All,
    /// Those that are there.
    Positive,
    /// None.
    None,
}

impl Default for AttributeCacheOptions {
    /// The times that Linux clients use, so that two clients of one server wait equally long for each other's changes.
    fn default() -> Self {
        Self {
            file_min: Duration::from_secs(3),
            directory_min: Duration::from_secs(30),
            file_max: Duration::from_secs(60),
            directory_max: Duration::from_secs(60),
            lookups: LookupCache::All,
            absence: Duration::from_secs(1),
            entries: 1 << 16,
            alone: false,
        }
    }
}

impl AttributeCacheOptions {
    /// All four times the same (Linux: `actimeo`); zero believes nothing (Linux: `noac`).
    #[must_use]
    pub fn with_all(self, time: Duration) -> Self {
        Self { file_min: time, file_max: time, directory_min: time, directory_max: time, ..self }
    }

    /// For a tree that nobody else changes: nothing is asked again.
    pub fn alone() -> Self {
        let usual = Self { absence: Duration::MAX, entries: 1 << 20, alone: true, ..Self::default() };
        usual.with_all(Duration::MAX)
    }

    /// When somebody else did change it.
    pub(super) fn shared(self) -> Self {
        Self { entries: self.entries, ..Self::default() }
    }
}

/// What an attribute cache answered by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AttributeCacheReport {
    /// Questions for attributes, names and rights that were answered from memory.
    pub hits: u64,
    /// Those that were passed on.
    pub misses: u64,
    /// Directories that nobody else changes unnoticed: the server delegates them.
    pub delegated_directories: usize,
}
