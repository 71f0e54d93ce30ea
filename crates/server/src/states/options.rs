//! What the state of clients needs to begin.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use howdah_state::{MemoryBounds, RecoveryRecords, limits};

use super::head_log::{HeadAddresses, HeadLog};
use super::head_records::HeadRecords;
use super::head_settings::HeadSettings;
use super::own_rights::OwnRights;
use super::record_file::RecordFile;
use super::record_log::{NoLog, RecordLog};
use super::serving_head::ServingHead;
use super::state_number::next_state_number;

/// Seconds by which the numbers of runs of different heads may lie apart: half a year, in which no two are likely to meet.
const HEADS_APART: u64 = 1 << 24;

/// What clients may hold on the smallest host, in bytes.
const MEMORY_MIN: usize = 64 << 20;

/// What clients may hold on this host: an eighth of its memory at most, and one network a quarter of that.
fn memory_of_host() -> MemoryBounds {
    let host = howdah_net::memory_limits();
    let total = host.group.map_or(host.total, |group| host.total.min(group));
    let eighth = usize::try_from(total / 8).unwrap_or(usize::MAX);
    let all = eighth.clamp(MEMORY_MIN, limits::MEMORY_MAX);
    MemoryBounds { all, of_network: (all / 4).min(limits::MEMORY_OF_NETWORK_MAX) }
}

/// What the state needs to begin.
pub struct StateOptions {
    /// How long a client keeps what it has without a word from it.
    pub lease: Duration,
    /// What earlier runs left.
    pub records: RecoveryRecords,
    /// The number of this run, larger than those before.
    pub epoch: u32,
    /// The state number of this host's status monitor: odd, and two more than that of the run before.
    pub host_number: u32,
    /// Where records go.
    pub log: Box<dyn RecordLog>,
    /// This head, of a cluster whose heads know each other's clients.
    pub cluster: Option<ServingHead>,
    /// What clients may hold.
    pub memory: MemoryBounds,
}

impl StateOptions {
    /// For a server that has no place to keep records: its clients lose opens and locks when it restarts.
    pub fn forgetful() -> Self {
        let epoch = since_1970().as_secs() as u32;
        let lease = howdah_state::limits::LEASE;
        // Odd, and another one than before.
        let host_number = (epoch << 1 | 1) & (u32::MAX >> 1);
        Self {
            lease,
            records: RecoveryRecords::default(),
            epoch,
            host_number,
            log: Box::new(NoLog),
            cluster: None,
            memory: memory_of_host(),
        }
    }

    /// For a server that keeps records in this directory. `rights`: those by which threads that act as callers may write there.
    ///
    /// # Errors
    /// They cannot be read or written.
    pub fn in_directory(directory: &Path, rights: OwnRights) -> io::Result<Self> {
        let (file, records) = RecordFile::open(directory, rights)?;
        let forgetful = Self::forgetful();
        // Also where the records were lost: ids of clients of earlier runs must not be taken for those of this one.
        let epoch = records.next_epoch().max(forgetful.epoch);
        let host_number = next_state_number(directory)?.unwrap_or(forgetful.host_number);
        Ok(Self { records, epoch, host_number, log: Box::new(file), ..forgetful })
    }

    /// The same for one of several heads that serve the same files, with this number of its own: names of clients and opens
    /// that one head gave out are not taken for those of another that began in the same second.
    #[must_use]
    pub fn of_head(self, head: u64) -> Self {
        let apart = since_1970().as_secs().saturating_sub(head % HEADS_APART) as u32;
        Self { epoch: self.records.next_epoch().max(apart), ..self }
    }

    /// For a head of a cluster that keeps its records where the other heads read them, in this directory of the cluster file
    /// system. `head` is its own number. They have these settings alike.
    ///
    /// # Errors
    /// They cannot be read or written, or another head has other settings.
    pub fn in_cluster(
        directory: &Path,
        rights: OwnRights,
        head: u64,
        settings: &HeadSettings,
        lease: Duration,
    ) -> io::Result<Self> {
        let heads = HeadRecords::open(directory, head, rights)?;
        let run = heads.begin_run()?;
        heads.agree(settings)?;
        let (file, records) = heads.own()?;
        let forgetful = Self { records, lease, ..Self::forgetful() }.of_head(head);
        // What hosts know of one head must be another number than that of the next.
        let host_number = (forgetful.epoch << 1 | 1) & (u32::MAX >> 1);
        let addresses = Arc::new(HeadAddresses::new(heads, run, settings.addresses.clone(), lease));
        let log = Box::new(HeadLog::new(file, Arc::clone(&addresses)));
        Ok(Self { host_number, log, cluster: Some(ServingHead::new(settings.scope, addresses)), ..forgetful })
    }

    /// The same with another lease.
    #[must_use]
    pub fn with_lease(self, lease: Duration) -> Self {
        Self { lease, ..self }
    }
}

/// The time of day.
pub(super) fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_that_begin_at_once_have_numbers_of_their_own() {
        let epoch = |head| StateOptions::forgetful().of_head(head).epoch;
        let (one, other) = (epoch(5), epoch(100_000_005));
        assert!(one.abs_diff(other) > 1_000_000, "{one} and {other}");
    }
}
