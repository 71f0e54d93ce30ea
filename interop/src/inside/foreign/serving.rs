//! What every server of other people can be asked.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use howdah_vfs::conformance::Abilities;

use crate::inside::LOOK;

/// A server that has not started after this long will not: a guest boots in three seconds where nothing else runs.
const START: Duration = Duration::from_secs(120);
/// Nor will one end that has not within this time.
const END: Duration = Duration::from_secs(30);

/// Where an export is, and what the storage behind it can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The server's address.
    pub address: &'static str,
    /// The export's name.
    pub export: String,
    /// What may be asked of it.
    pub abilities: Abilities,
}

/// Where all of them answer NFS.
pub const NFS_PORT: u16 = 2049;
/// Where all of them answer MOUNT.
pub const MOUNT_PORT: u16 = 20_048;

/// A server that runs; it is killed when this goes.
pub trait Serving {
    /// Where its export is.
    fn place(&self) -> Place;

    /// An error if it ended by itself.
    fn must_run(&mut self) -> Result<()>;

    /// Ends it well.
    fn end(&mut self) -> Result<()>;
}

/// Looks until the server has started.
pub fn until_started(mut look: impl FnMut() -> Result<bool>) -> Result<()> {
    until(START, "it has not started", &mut look)
}

/// Looks until the server has ended.
pub fn until_ended(mut look: impl FnMut() -> Result<bool>) -> Result<()> {
    until(END, "it has not ended", &mut look)
}

fn until(patience: Duration, complaint: &str, look: &mut dyn FnMut() -> Result<bool>) -> Result<()> {
    let give_up = Instant::now() + patience;
    while !look()? {
        ensure!(Instant::now() < give_up, "{complaint} after {patience:?}");
        thread::sleep(LOOK);
    }
    Ok(())
}
