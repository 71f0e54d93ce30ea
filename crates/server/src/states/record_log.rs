//! Where records go that must survive a restart, and what stands in for it where there is no such place.

use std::io;

use howdah_state::{DurableRecord, Serial};

/// Where records go that must survive a restart.
pub trait RecordLog: Send + Sync {
    /// Takes a record. Records come in the order of their numbers.
    fn append(&self, serial: Serial, record: &DurableRecord);

    /// Waits until all records up to this one are durable; `own` is the last of them that names the waiting client. While there
    /// is no room, those that name others are not waited for.
    ///
    /// # Errors
    /// They cannot be: nothing that rests on them may be granted.
    fn wait(&self, serial: Serial, own: Serial) -> io::Result<()>;

    /// Whether records can be written, as far as is known; after a failure it is tried again.
    ///
    /// # Errors
    /// They cannot be: those who are not recorded wait.
    fn look(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Remembers nothing: after a restart nobody reclaims.
pub(super) struct NoLog;

impl RecordLog for NoLog {
    fn append(&self, _: Serial, _: &DurableRecord) {}

    fn wait(&self, _: Serial, _: Serial) -> io::Result<()> {
        Ok(())
    }
}
