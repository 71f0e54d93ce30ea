//! What a run of the server is told at its start.

use std::time::Duration;

use crate::limits;
use crate::memory::MemoryBounds;

/// What a run of the server is told at its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateSettings {
    /// The number of this run, larger than those of all runs before, and durable: ids of earlier runs are known by it.
    pub epoch: u32,
    /// How long a client's state is safe without a word from it (RFC 8881 8.3). NLM and waiters use it too.
    pub lease: Duration,
    /// How long clients may reclaim after the start; at least a lease (RFC 8881 8.4.2).
    pub grace: Duration,
    /// How long a silent client keeps what nobody else wants.
    pub courtesy: Duration,
    /// How long a lock that became free is kept for the waiter who was told so.
    pub turn: Duration,
    /// How long no delegation of a file is given after one was asked for back.
    pub rest: Duration,
    /// Makes ids of sessions that cannot be guessed; from a random source.
    pub seed: u64,
    /// Bounds on what outsiders can make the server keep.
    pub bounds: StateBounds,
}

/// Bounds on what outsiders can make the server keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateBounds {
    /// Clients of NFSv4, unconfirmed ones included.
    pub clients: usize,
    /// Those of them from one address.
    pub clients_of_peer: usize,
    /// Silent clients whose lease passed.
    pub courtesy_clients: usize,
    /// Sessions of a client.
    pub sessions_of_client: usize,
    /// Slots of a session.
    pub slots: u32,
    /// Opens of a client, and lock states of a client.
    pub states_of_client: usize,
    /// Read delegations of all clients.
    pub delegations: usize,
    /// Files in delegated directories, whose changes call the delegation back.
    pub delegated_children: usize,
    /// Byte ranges locked by a client or an NLM host.
    pub ranges_of_client: usize,
    /// Byte ranges of one file locked by all clients and hosts.
    pub ranges_of_file: usize,
    /// Locks that wait, of a client or an NLM host.
    pub waiters_of_client: usize,
    /// NLM hosts.
    pub hosts: usize,
    /// Bytes of memory for all of this.
    pub memory: MemoryBounds,
    /// Bytes of all replies that are kept for retries.
    pub cached_bytes: usize,
    /// The same of one client.
    pub cached_bytes_of_client: usize,
}

impl StateSettings {
    /// The usual values, for this epoch and seed.
    pub fn new(epoch: u32, seed: u64) -> Self {
        Self {
            epoch,
            lease: limits::LEASE,
            grace: limits::LEASE,
            courtesy: limits::COURTESY,
            turn: limits::TURN,
            rest: limits::REST,
            seed,
            bounds: StateBounds::default(),
        }
    }
}

impl Default for StateBounds {
    fn default() -> Self {
        Self {
            clients: limits::CLIENTS_MAX,
            clients_of_peer: limits::CLIENTS_OF_PEER_MAX,
            courtesy_clients: limits::COURTESY_CLIENTS_MAX,
            sessions_of_client: limits::SESSIONS_OF_CLIENT_MAX,
            slots: limits::SLOTS_MAX,
            states_of_client: limits::STATES_OF_CLIENT_MAX,
            delegations: limits::DELEGATIONS_MAX,
            delegated_children: limits::DELEGATED_CHILDREN_MAX,
            ranges_of_client: limits::RANGES_OF_CLIENT_MAX,
            ranges_of_file: limits::RANGES_OF_FILE_MAX,
            waiters_of_client: limits::WAITERS_OF_CLIENT_MAX,
            hosts: limits::HOSTS_MAX,
            memory: MemoryBounds { all: limits::MEMORY_MAX, of_network: limits::MEMORY_OF_NETWORK_MAX },
            cached_bytes: limits::CACHED_BYTES_MAX,
            cached_bytes_of_client: limits::CACHED_BYTES_OF_CLIENT_MAX,
        }
    }
}
