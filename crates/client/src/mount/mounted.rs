//! A mount that lasts as long as this value.

use std::time::Duration;

use howdah_vfs::Caller;
use howdah_wire::mount;

use super::Place;
use super::service::Service;
use super::umnt::unmount;

/// How long taking a mount back may take: it is only a courtesy, and the server may be gone.
const PATIENCE: Duration = Duration::from_secs(1);

/// A mount, taken back when this is dropped, if the server can still be reached.
#[derive(Debug)]
pub struct Mounted {
    place: Place,
    path: Vec<u8>,
    caller: Caller,
}

impl Mounted {
    pub(super) fn new(place: Place, path: Vec<u8>, caller: Caller) -> Self {
        Self { place, path, caller }
    }

    /// The path that was mounted.
    pub fn path(&self) -> &[u8] {
        &self.path
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let program = (mount::PROGRAM, mount::VERSION_3);
        let opened =
            Service::open(self.place.address, self.place.transport, program, self.caller.clone(), PATIENCE);
        let told = opened.map_err(Into::into).and_then(|service| unmount(&service, &self.path));
        if let Err(error) = told {
            tracing::debug!(%error, "the server was not told that the mount is over");
        }
    }
}
