//! The options of a copy.

use std::time::Duration;

use howdah_tune::flight::{Bounds, Expected};

use super::Patterns;

/// How to copy.
#[derive(Debug, Clone)]
pub struct CopyOptions {
    /// Whether directories are copied, with all that is in them.
    pub recursive: bool,
    /// What of a node is kept beside its data.
    pub preserve: Preserve,
    /// What becomes of files that are at the destination already.
    pub existing: Existing,
    /// When an existing file counts as the same.
    pub compare: Compare,
    /// Which zeros become holes.
    pub sparse: Sparse,
    /// Whether each file is read back from both sides and compared before it gets its final name.
    pub verify: bool,
    /// Whether data is made durable (COMMIT) before a file gets its final name.
    pub sync: bool,
    /// Which names of a directory are copied.
    pub patterns: Patterns,
    /// Whether what a source does not have is removed from the directories that it was copied to.
    pub delete: bool,
    /// Whether it may be all that the destination has: if a source is empty, perhaps since a disk is not mounted.
    pub delete_all: bool,
    /// The most names that are removed.
    pub max_delete: Option<u64>,
    /// Whether it only reports what would be done: nothing is changed at the destination.
    pub dry_run: bool,
    /// Whether directories on another file system than the one given are left empty.
    pub one_file_system: bool,
    /// Most bytes of file data per second; as fast as it goes without.
    pub rate: Option<u64>,
    /// Workers; without, as many as the measured rate asks for.
    pub jobs: Option<usize>,
    /// The user's umask, for modes that are not preserved.
    pub umask: u32,
    /// Sizes and times that only tests change.
    pub tuning: CopyTuning,
}

/// What of a node is kept beside its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preserve {
    /// Times of access and change.
    pub times: bool,
    /// Permission bits.
    pub mode: bool,
    /// Owner and group: only the superuser can give them.
    pub owner: bool,
    /// That several names are one file.
    pub links: bool,
    /// The set-user-ID and set-group-ID bits of files whose owner is kept: a program then runs as that owner. Directories keep the
    /// bits always.
    pub set_id: bool,
    /// Block and character devices: who may open one reaches what it stands for.
    pub devices: bool,
    /// POSIX ACLs of files and directories, where both sides have them.
    pub acls: bool,
    /// Extended attributes of users, where both sides have them.
    pub xattrs: bool,
}

/// What becomes of a file that is at the destination already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Existing {
    /// It stays if it counts as the same, else it is replaced.
    #[default]
    ReplaceChanged,
    /// It is replaced.
    Replace,
    /// It is replaced if it is older than the source.
    ReplaceOlder,
    /// It stays, whatever it is.
    Keep,
}

/// When an existing file counts as the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compare {
    /// Equal size, and equal time of change within the coarser step of the two sides.
    #[default]
    SizeAndTime,
    /// Equal bytes: both are read.
    Content,
}

/// Which zeros become holes: aligned runs of at least 64 KiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sparse {
    /// Those of files that use less storage than their size: they have holes already.
    #[default]
    Auto,
    /// Those of every file.
    Always,
    /// None.
    Never,
}

/// Sizes and times of the machinery.
#[derive(Debug, Clone, Copy)]
pub struct CopyTuning {
    /// Bytes per transfer.
    pub block: usize,
    /// The smallest file that has a journal: smaller ones are cheaper sent again than remembered.
    pub journal_from: u64,
    /// What is uncommitted before a file with a journal is committed: a quarter of what was committed since the start,
    /// within these bounds, so that an interruption never loses more than a part of the work.
    pub commit_bytes: (u64, u64),
    /// Committed at least this often, so that on a slow path little time is lost.
    pub commit_interval: Duration,
    /// The most workers that are ever started by measurement: more calls than that no path is given.
    pub most_jobs: usize,
    /// The most workers for small files. Each worker is a thread, makes the few calls of one file in turn, and may hold a
    /// descriptor.
    pub most_small_jobs: usize,
    /// What the path between both sides is expected to carry.
    pub expected: Option<Expected>,
    /// Whether each file has one writer and many readers; if unset, where the destination takes the writes of a file one after
    /// the other.
    pub one_writer: Option<bool>,
}

impl Default for Preserve {
    fn default() -> Self {
        Self {
            times: true,
            mode: true,
            owner: false,
            links: true,
            set_id: true,
            devices: true,
            acls: false,
            xattrs: false,
        }
    }
}

impl Default for CopyTuning {
    fn default() -> Self {
        Self {
            // The largest READ and WRITE that usual servers offer.
            block: 1 << 20,
            journal_from: 16 << 20,
            commit_bytes: (4 << 20, 64 << 20),
            commit_interval: Duration::from_secs(1),
            most_jobs: Bounds::default().ceiling,
            most_small_jobs: 2048,
            expected: None,
            one_writer: None,
        }
    }
}

impl Default for CopyOptions {
    fn default() -> Self {
        Self {
            recursive: false,
            preserve: Preserve::default(),
            existing: Existing::default(),
            compare: Compare::default(),
            sparse: Sparse::default(),
            verify: false,
            sync: true,
            patterns: Patterns::default(),
            delete: false,
            delete_all: false,
            max_delete: None,
            dry_run: false,
            one_file_system: false,
            rate: None,
            jobs: None,
            umask: 0o022,
            tuning: CopyTuning::default(),
        }
    }
}
