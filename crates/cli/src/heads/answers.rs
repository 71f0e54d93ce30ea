//! What a head answered.

use std::collections::BTreeMap;

/// What a head answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeadAnswers {
    /// Seconds by which its clock is ahead of this host's; `None` if it does not say.
    pub ahead: Option<i64>,
    /// Its exports, by name.
    pub exports: BTreeMap<String, ExportAnswers>,
}

/// What it answered about an export; an error where it could not be mounted.
pub type ExportAnswers = Result<SeenExport, String>;

/// An export as a client sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeenExport {
    /// The handle of its root.
    pub root: Vec<u8>,
    /// The number of its file system (`fsid`).
    pub file_system: u64,
    /// The number of its root.
    pub file: u64,
    /// The size of its file system in bytes. How many files fit says less: on some clusters it rises with each file.
    pub bytes: u64,
    /// The write verifier, if there is a file by which it shows.
    pub verifier: Option<[u8; 8]>,
    /// Some of the names in it, with handle and number of what they lead to.
    pub names: BTreeMap<String, (Vec<u8>, u64)>,
}
