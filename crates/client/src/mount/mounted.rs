//! A mount that lasts as long as this value.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use howdah_tls::ClientTls;
use howdah_vfs::Caller;
use howdah_wire::mount::{self, DirectoryPath, umnt};

use super::Place;
use super::service::{Service, request};
use super::umnt::unmount;
use crate::channel::Channel;
use crate::common::machine_name;
use crate::waiting::wait_at_most;

/// How long taking a mount back may take: it is only a courtesy, and the server may be gone.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long UMNT may take on the connection of NFS. A far server answers later: the call has been sent, and nobody waits.
const LINGER: Duration = Duration::from_millis(20);

/// A mount, taken back when this is dropped, if the server can still be reached.
pub struct Mounted {
    place: Place,
    path: Vec<u8>,
    /// Was asked for beside it, and is not used.
    unused: Option<Vec<u8>>,
    caller: Caller,
    tls: Option<ClientTls>,
    /// A connection on which MOUNT answers, too.
    channel: Option<Arc<Channel>>,
}

impl Mounted {
    pub(super) fn new(
        place: Place,
        (path, unused): (Vec<u8>, Option<Vec<u8>>),
        caller: Caller,
        tls: Option<ClientTls>,
    ) -> Self {
        Self { place, path, unused, caller, tls, channel: None }
    }

    /// Takes it back through the connection of NFS, if that leads to the very port of MOUNT: far away, another connection costs two
    /// round trips.
    #[must_use]
    pub fn through(mut self, channel: &Arc<Channel>, nfs: SocketAddr) -> Self {
        let is_same = self.place.address == nfs && !self.place.transport.is_datagrams();
        self.channel = is_same.then(|| Arc::clone(channel));
        self
    }

    /// The path that was mounted.
    pub fn path(&self) -> &[u8] {
        &self.path
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let program = (mount::PROGRAM, mount::VERSION_3);
        let paths = [Some(&self.path), self.unused.as_ref()].into_iter().flatten();
        if let Some(channel) = &self.channel {
            let machine = machine_name();
            let calls = paths.map(|path| {
                let arguments = umnt::Arguments { path: DirectoryPath(path) };
                channel.start(request(program, umnt::PROCEDURE, (&self.caller, &machine), &arguments))
            });
            for pending in calls.collect::<Vec<_>>() {
                if wait_at_most(pending, LINGER).is_none() {
                    tracing::debug!("the server did not say in time that it knows the mount to be over");
                }
            }
            return;
        }
        let (Place { address, transport }, caller) = (self.place, self.caller.clone());
        let opened = Service::open(address, transport, program, caller, PATIENCE, self.tls.take());
        let told = opened.map_err(Into::into).and_then(|service| {
            let mut paths = paths;
            paths.try_for_each(|path| unmount(&service, path))
        });
        if let Err(error) = told {
            tracing::debug!(%error, "the server was not informed of the unmount");
        }
    }
}
