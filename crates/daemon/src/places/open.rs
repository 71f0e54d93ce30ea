//! Opening what was typed: each directory and each server once, however many places lie there.

use std::sync::Arc;

use anyhow::Result;
use howdah_client::Remote;
use howdah_client::connect::ConnectOptions;

use super::local::Directories;
use super::remote::Servers;
use super::{Following, Location, Place};

/// Opens places, and remembers what is open.
#[derive(Default)]
pub struct Opener {
    directories: Directories,
    servers: Servers,
}

impl Opener {
    /// Opens a place. The last name of its path need not exist; a path typed with a slash at its end is followed.
    pub fn open(&self, location: &Location, following: Following) -> Result<Place> {
        self.open_with(location, &ConnectOptions::default(), following)
    }

    /// The same for what is rather a file than a directory: far away, it is found a round trip earlier.
    pub fn open_file(&self, location: &Location, following: Following) -> Result<Place> {
        let may_be_file = !location.means_directory();
        self.open_with(location, &ConnectOptions { may_be_file, ..ConnectOptions::default() }, following)
    }

    fn open_with(
        &self,
        location: &Location,
        options: &ConnectOptions,
        following: Following,
    ) -> Result<Place> {
        let following = if location.means_directory() { Following::Links } else { following };
        match location {
            Location::Local(path) => self.directories.open(path, following),
            Location::Nfs(url, _) => self.servers.open(url, options, following),
        }
    }

    /// The same for what is to be written, which has a directory even if it is a file that a server mounts.
    pub fn open_to_write(&self, location: &Location) -> Result<Place> {
        let options = ConnectOptions { into_directory: true, ..ConnectOptions::default() };
        self.open_with(location, &options, Following::Links)
    }

    /// The clients of all servers that were opened.
    pub fn clients(&self) -> Vec<Arc<dyn Remote>> {
        self.servers.clients()
    }
}

/// Opens one place.
pub fn open(location: &Location, following: Following) -> Result<Place> {
    Opener::default().open(location, following)
}
