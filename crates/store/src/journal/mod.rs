//! What a caching layer keeps on disk until its server has it: a journal of changes, and a store of what was refused.
//!
//! A journal is records in segments, append only. A record belongs to a change, which the caller numbers, and is dropped once that change
//! is finished. It knows neither what a change is nor where it goes.

mod directory_disk;
mod disk;
mod disk_journal;
mod error;
mod fields;
mod format;
mod identity;
mod live_records;
mod options;
mod record;
mod refused_store;
mod replay;
mod segments;
/// As the tests of the whole crate have it.
#[cfg(test)]
#[path = "../../tests/simulated_disk/mod.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod simulated_disk;
mod state;
mod summary;
mod unfinished_count;

pub use directory_disk::DirectoryDisk;
pub use disk::{JournalDisk, JournalFile};
pub use disk_journal::{DiskJournal, ReplayedJournal};
pub use error::JournalError;
pub use identity::JournalIdentity;
pub use options::{JournalOptions, SyncFirst};
pub use record::{JournalPosition, JournalRecord};
pub use refused_store::{RefusedChange, RefusedEntry, RefusedStore};
pub use state::JournalCounts;
pub use summary::JournalSummary;
pub use unfinished_count::MissingJournal;
