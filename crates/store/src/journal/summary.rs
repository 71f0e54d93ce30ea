//! A journal seen from outside: whose it is, and whether a process sends what is in it. Nothing is changed.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::directory_disk::{self, DirectoryDisk};
use super::error::JournalError;
use super::identity::{self, JournalIdentity};
use super::replay;

/// The locks of this host.
const LOCKS: &str = "/proc/locks";

/// What there is to say of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalSummary {
    /// Whose it is.
    pub identity: JournalIdentity,
    /// The process that has it open.
    pub holder: Option<u32>,
    /// Changes that are not finished, if no process has it open: nobody sends them.
    pub changes: Option<u64>,
}

impl JournalSummary {
    /// Looks at the journal in a directory.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn of(directory: &Path) -> Result<Self, JournalError> {
        let disk = DirectoryDisk::look(directory)?;
        let identity = identity::read(&disk)?;
        let lock = directory.join(directory_disk::LOCK);
        let holder = holder(&lock).map_err(JournalError::disk("reading", &lock))?;
        let changes = match holder {
            Some(_) => None,
            None => Some(replay::count_unfinished(&disk)?),
        };
        Ok(Self { identity, holder, changes })
    }
}

/// The process that has locked this file. To try the lock would keep a process that starts just now from it.
fn holder(lock: &Path) -> io::Result<Option<u32>> {
    let text = fs::read_to_string(lock)?;
    let Some(process) = text.split(' ').next().and_then(|id| id.parse::<u32>().ok()) else { return Ok(None) };
    let inode = format!(":{}", fs::metadata(lock)?.ino());
    let locks = fs::read_to_string(LOCKS)?;
    let holds = |line: &str| {
        let mut words = line.split_whitespace().skip_while(|word| *word != "FLOCK").skip(3);
        let is_process = words.next().and_then(|id| id.parse().ok()) == Some(process);
        is_process && words.next().is_some_and(|file| file.ends_with(&inode))
    };
    Ok(locks.lines().any(holds).then_some(process))
}
