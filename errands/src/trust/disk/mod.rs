//! A disk of our own under a real file system: everything written to it is known, and it fails and hangs on command.

#[allow(clippy::module_inception, reason = "the file holds the disk itself")]
mod disk;
mod places;
mod platter;
mod served;

pub use disk::{BTRFS, Disk, EXT4, Kind, XFS, lacking, run};
pub use places::places_of;
pub use platter::{Condition, Entry};
