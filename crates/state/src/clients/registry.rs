//! All clients of NFSv4, by id, by owner, and by network.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::hash::Hasher;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use siphasher::sip::SipHasher24;

use super::creation::CreationSlot;
use super::{ClientCaller, ClientIdentity, ClientRecord};
use crate::ids::ClientId;
use crate::sessions::ClientShared;

/// Networks that are known to be one client's.
const NETWORKS_MAX: usize = 8;

/// All clients of NFSv4.
#[derive(Debug)]
pub struct ClientRegistry {
    epoch: u32,
    seed: u64,
    lease: Duration,
    made: u64,
    by_id: HashMap<ClientId, ClientRecord>,
    by_owner: HashMap<Box<[u8]>, Runs>,
    by_network: HashMap<IpAddr, HashSet<ClientId>>,
}

/// The runs of one owner: at most one that is confirmed, and those that are not yet, of callers that differ.
#[derive(Debug, Default)]
struct Runs {
    confirmed: Option<ClientId>,
    unconfirmed: Vec<ClientId>,
}

impl ClientRegistry {
    /// None yet. `seed` makes ids that cannot be guessed.
    pub fn new(epoch: u32, seed: u64, lease: Duration) -> Self {
        let (by_id, by_owner, by_network) = Default::default();
        Self { epoch, seed, lease, made: 0, by_id, by_owner, by_network }
    }

    /// The client with this id.
    pub fn get(&self, id: ClientId) -> Option<&ClientRecord> {
        self.by_id.get(&id)
    }

    /// Whether a client's lease has passed.
    pub fn is_lapsed(&self, now: Duration, id: ClientId) -> bool {
        self.get(id).is_none_or(|record| record.is_lapsed(now, self.lease))
    }

    /// Those whose lease has passed, of all or of a network, the longest silent first.
    pub fn lapsed(&self, now: Duration, network: Option<IpAddr>) -> Vec<ClientId> {
        let all = network.is_none().then(|| self.iter()).into_iter().flatten();
        let those = all.chain(network.into_iter().flat_map(|network| self.of_network(network)));
        let lapsed = those.filter(|record| record.is_lapsed(now, self.lease));
        let mut by_silence: Vec<_> =
            lapsed.map(|record| (Reverse(record.shared.silence(now)), record.id)).collect();
        by_silence.sort_unstable();
        by_silence.into_iter().map(|(_, id)| id).collect()
    }

    /// Those whose time is over: unconfirmed ones live a lease, others a lease and the time of courtesy.
    pub fn over(&self, now: Duration, courtesy: Duration) -> Vec<ClientId> {
        let life =
            |record: &ClientRecord| self.lease + if record.is_confirmed { courtesy } else { Duration::ZERO };
        let over = self.iter().filter(|record| record.shared.silence(now) > life(record));
        over.map(|record| record.id).collect()
    }

    /// The client with this id, if this caller made it.
    pub fn of_caller(&self, id: ClientId, caller: ClientCaller<'_>) -> Option<&ClientRecord> {
        self.get(id).filter(|record| record.networks().any(|network| network == caller.network))
    }

    /// The client with this id, to be changed; neither its owner nor its network may be.
    pub fn get_mut(&mut self, id: ClientId) -> Option<&mut ClientRecord> {
        self.by_id.get_mut(&id)
    }

    /// The confirmed client of an owner.
    pub fn confirmed(&self, owner: &[u8]) -> Option<&ClientRecord> {
        self.get(self.by_owner.get(owner)?.confirmed?)
    }

    /// The unconfirmed client that the same caller made under this owner's name.
    pub fn unconfirmed(&self, owner: &[u8], caller: ClientCaller<'_>) -> Option<ClientId> {
        let runs = self.by_owner.get(owner)?;
        let is_its =
            |record: &ClientRecord| record.network == caller.network && record.principal == *caller.principal;
        runs.unconfirmed.iter().copied().find(|id| self.get(*id).is_some_and(is_its))
    }

    /// Adds an unconfirmed client.
    pub fn add(&mut self, now: Duration, identity: ClientIdentity<'_>) -> &ClientRecord {
        let ClientIdentity { owner, verifier, principal, peer, network, server } = identity;
        let id = self.free_id();
        self.by_network.entry(network).or_default().insert(id);
        self.by_owner.entry(owner.into()).or_default().unconfirmed.push(id);
        self.by_id.entry(id).or_insert(ClientRecord {
            id,
            owner: owner.into(),
            verifier,
            principal: principal.clone(),
            made: self.made,
            peer,
            network,
            earlier_networks: Vec::new(),
            server,
            shared: Arc::new(ClientShared::heard_at(now)),
            is_confirmed: false,
            is_complete: false,
            creation: CreationSlot::default(),
            sessions: Vec::new(),
        })
    }

    /// A client is confirmed; its owner has no other that is.
    pub fn confirm(&mut self, id: ClientId) {
        let Some(record) = self.by_id.get_mut(&id) else { return };
        record.is_confirmed = true;
        let runs = self.by_owner.entry(record.owner.clone()).or_default();
        runs.confirmed = Some(id);
        runs.unconfirmed.retain(|other| *other != id);
    }

    /// A confirmed client calls from another address now.
    pub fn move_to(&mut self, id: ClientId, (peer, network): (IpAddr, IpAddr)) {
        let Some(record) = self.by_id.get_mut(&id) else { return };
        record.peer = peer;
        let before = std::mem::replace(&mut record.network, network);
        if before != network {
            record.earlier_networks.retain(|earlier| *earlier != network && *earlier != before);
            record.earlier_networks.insert(0, before);
            record.earlier_networks.truncate(NETWORKS_MAX - 1);
            self.leave(before, id);
            self.by_network.entry(network).or_default().insert(id);
        }
    }

    fn leave(&mut self, network: IpAddr, id: ClientId) {
        let Some(clients) = self.by_network.get_mut(&network) else { return };
        clients.remove(&id);
        if clients.is_empty() {
            self.by_network.remove(&network);
        }
    }

    /// Takes a client out.
    pub fn remove(&mut self, id: ClientId) -> Option<ClientRecord> {
        let record = self.by_id.remove(&id)?;
        if let Some(runs) = self.by_owner.get_mut(&record.owner) {
            runs.confirmed = runs.confirmed.filter(|other| *other != id);
            runs.unconfirmed.retain(|other| *other != id);
            if runs.confirmed.is_none() && runs.unconfirmed.is_empty() {
                self.by_owner.remove(&record.owner);
            }
        }
        self.leave(record.network, id);
        Some(record)
    }

    /// All clients, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &ClientRecord> {
        self.by_id.values()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.by_id.len()
    }

    /// How many there are from a network.
    pub fn count_of(&self, network: IpAddr) -> usize {
        self.by_network.get(&network).map_or(0, HashSet::len)
    }

    /// Those from a network.
    pub fn of_network(&self, network: IpAddr) -> impl Iterator<Item = &ClientRecord> {
        self.by_network.get(&network).into_iter().flatten().filter_map(|id| self.get(*id))
    }

    /// The network with the most clients.
    pub fn fullest_network(&self) -> Option<IpAddr> {
        self.by_network.iter().max_by_key(|(_, clients)| clients.len()).map(|(network, _)| *network)
    }

    /// An id that no client has. A keyed hash: a client must not find out the ids of others.
    fn free_id(&mut self) -> ClientId {
        loop {
            self.made += 1;
            let mut hasher = SipHasher24::new_with_keys(!self.seed, self.seed);
            hasher.write_u64(self.made);
            let id = ClientId::new(self.epoch, hasher.finish() as u32);
            if id.number() != 0 && !self.by_id.contains_key(&id) {
                return id;
            }
        }
    }
}
