//! Places of calls that go in though the gate of their export is shut.

use std::net::IpAddr;
use std::sync::Arc;

use super::Worker;
use crate::Peer;
use crate::room::one_client;
use crate::shared::Shared;

/// A call that went in besides, until it is done.
pub(super) struct ReservedPlace {
    shared: Arc<Shared>,
    export: u16,
    client: IpAddr,
}

impl Worker {
    /// A place for a call of a client that has none in line, if one is free.
    pub(super) fn reserve(&self, export: u16, peer: &Peer) -> Option<ReservedPlace> {
        let address = peer.ends.client.ip();
        let (client, weight) = (one_client(address), self.shared.weights.of(address));
        let is_in = self.shared.gates.reserve(export, client, weight);
        is_in.then(|| ReservedPlace { shared: Arc::clone(&self.shared), export, client })
    }
}

impl Drop for ReservedPlace {
    fn drop(&mut self) {
        self.shared.gates.leave_reserved(self.export, self.client);
    }
}
