//! Room in memory for what clients and hosts are given. Clients whose lease has passed make way, the longest silent first.

use std::hash::Hash;
use std::net::IpAddr;
use std::time::Duration;

use super::NfsState;
use crate::clients::ClientRecord;
use crate::effects::ClientEnd;
use crate::error::StateError;
use crate::files::Party;
use crate::holdings::Holdings;
use crate::ids::ClientId;
use crate::memory;
use crate::states::{ClientStates, StateTable};

impl<K: Clone + Eq + Hash, S> NfsState<K, S> {
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

    /// Room for what a network is to hold. `asks` stays.
    pub(super) fn room(
        &mut self,
        now: Duration,
        network: IpAddr,
        asks: Option<ClientId>,
        bytes: usize,
    ) -> Result<(), StateError> {
        if !self.memory.fits(network, bytes) && !self.memory.is_fresh(now) {
            self.count_memory(now);
        }
        if !self.memory.fits(network, bytes) && !self.memory.is_hopeless(now) {
            // The longest silent of those whose lease has passed end until there is room.
            let is_its_own = self.memory.is_full(network, bytes);
            let lapsed = self.clients.lapsed(now, is_its_own.then_some(network));
            for client in lapsed.into_iter().filter(|client| Some(*client) != asks) {
                if self.memory.fits(network, bytes) {
                    break;
                }
                let Some(record) = self.clients.get(client) else { continue };
                let (network, held) = (record.network, memory_of(record, &self.states, &self.files));
                self.end_client(now, client, ClientEnd::Expired, false);
                self.memory.release(network, held);
            }
            self.memory.looked(now, network, bytes);
        }
        if !self.memory.fits(network, bytes) {
            return Err(StateError::NoSpace);
        }
        self.memory.add(network, bytes);
        Ok(())
    }

    /// Counts what is held. Sessions of a network that holds too much get no more slots.
    pub(super) fn count_memory(&mut self, now: Duration) {
        let mut held = self.memory.recount(now);
        for record in self.clients.iter() {
            held.add(record.network, memory_of(record, &self.states, &self.files));
        }
        for (id, host) in self.hosts.iter() {
            held.add(host.network, memory::HOST + 2 * host.name.len() + self.files.usage(Party::Host(id)).1);
        }
        for record in self.clients.iter() {
            record.shared.set_may_grow(held.fits(record.network, 0));
        }
        self.memory = held;
        self.files.shrink();
    }
}

fn memory_of<K: Clone + Eq + Hash>(
    record: &ClientRecord,
    states: &StateTable<K>,
    files: &Holdings<K>,
) -> usize {
    let states = states.of(record.id).map_or(0, ClientStates::bytes);
    let (_, ranges) = files.usage(Party::Client(record.id));
    memory::CLIENT + 3 * record.owner.len() + record.shared.bytes() + states + ranges
}
