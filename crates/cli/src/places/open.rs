//! Opening what was typed.

use anyhow::Result;

use super::local::open_local;
use super::{Location, Place};

/// What becomes of a symbolic link at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Following {
    /// What it points to is meant.
    Links,
    /// The link itself is meant.
    Nothing,
}

/// Opens a place. The last name of its path need not exist; a path typed with a slash at its end is followed.
pub fn open(location: &Location, following: Following) -> Result<Place> {
    let following = if location.means_directory() { Following::Links } else { following };
    match location {
        Location::Local(path) => open_local(path, following),
        Location::Nfs(url) => anyhow::bail!("opening {url}: not built yet"),
    }
}
