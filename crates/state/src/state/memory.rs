//! Room in memory for what clients and hosts are given. Clients whose lease has passed make way, the longest silent first.

use std::cmp::Reverse;
use std::hash::Hash;
use std::net::IpAddr;
use std::time::Duration;

use super::NfsState;
use crate::clients::ClientRecord;
use crate::effects::ClientEnd;
use crate::error::StateError;
use crate::files::Party;
use crate::ids::{ClientId, HostId};
use crate::memory::{self, HeldMemory};

impl<K: Clone + Eq + Hash, S> NfsState<K, S> {
    /// Bytes of memory that clients and hosts hold, as of the last count and with what was granted since.
    pub fn held_memory(&self) -> usize {
        self.memory.all()
    }

    /// Room for what a client is to be given.
    pub(super) fn room_for_client(
        &mut self,
        now: Duration,
        client: ClientId,
        bytes: usize,
    ) -> Result<(), StateError> {
        let network = self.clients.get(client).ok_or(StateError::Expired)?.network;
        self.room(now, network, Some(client), bytes)
    }

    /// Room for what a host is to be given.
    pub(super) fn room_for_host(
        &mut self,
        now: Duration,
        host: HostId,
        bytes: usize,
    ) -> Result<(), StateError> {
        let network = self.hosts.get(host).ok_or(StateError::NoSpace)?.network;
        self.room(now, network, None, bytes)
    }

    /// Room for what a network is to hold. `asks` stays.
    pub(super) fn room(
        &mut self,
        now: Duration,
        network: IpAddr,
        asks: Option<ClientId>,
        bytes: usize,
    ) -> Result<(), StateError> {
        let bounds = self.settings.bounds.memory;
        if !self.memory.fits(network, bytes, bounds) && !self.memory.is_fresh(now) {
            self.count_memory(now);
        }
        if !self.memory.fits(network, bytes, bounds) && !self.memory.is_hopeless(now) {
            self.end_courtesy(now, network, asks, bytes);
            self.memory.looked(now, network, bytes, bounds);
        }
        if !self.memory.fits(network, bytes, bounds) {
            return Err(StateError::NoSpace);
        }
        self.memory.add(network, bytes);
        Ok(())
    }

    /// Ends clients whose lease has passed until there is room, the longest silent first.
    fn end_courtesy(&mut self, now: Duration, network: IpAddr, asks: Option<ClientId>, bytes: usize) {
        let bounds = self.settings.bounds.memory;
        let is_its_own = self.memory.is_full(network, bytes, bounds);
        let lease = self.settings.lease;
        let lapsed = |record: &&ClientRecord| Some(record.id) != asks && record.is_lapsed(now, lease);
        let silence = |record: &ClientRecord| (Reverse(record.shared.silence(now)), record.id);
        let mut those: Vec<_> = if is_its_own {
            self.clients.of_network(network).filter(lapsed).map(silence).collect()
        } else {
            self.clients.iter().filter(lapsed).map(silence).collect()
        };
        those.sort_unstable();
        for (_, client) in those {
            if self.memory.fits(network, bytes, bounds) {
                return;
            }
            let Some(record) = self.clients.get(client) else { continue };
            let (network, held) = (record.network, self.memory_of(record));
            self.end_client(now, client, ClientEnd::Expired);
            self.memory.release(network, held);
        }
    }

    /// Counts what is held. Sessions of a network that holds too much get no more slots.
    pub(super) fn count_memory(&mut self, now: Duration) {
        let mut held = HeldMemory::counted_at(now);
        for record in self.clients.iter() {
            held.add(record.network, self.memory_of(record));
        }
        for (id, host) in self.hosts.iter() {
            held.add(host.network, memory::HOST + 2 * host.name.len() + self.files.bytes_of(Party::Host(id)));
        }
        let bounds = self.settings.bounds.memory;
        for record in self.clients.iter() {
            record.shared.set_may_grow(held.fits(record.network, 0, bounds));
        }
        self.memory = held;
        self.files.shrink();
    }

    fn memory_of(&self, record: &ClientRecord) -> usize {
        let states = self.states.get(&record.id).map_or(0, |states| states.bytes());
        let ranges = self.files.bytes_of(Party::Client(record.id));
        memory::CLIENT + 3 * record.owner.len() + record.shared.bytes() + states + ranges
    }
}
