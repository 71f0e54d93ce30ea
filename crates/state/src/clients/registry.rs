//! All clients of NFSv4, by id, by owner, and how many of each address.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use super::ClientRecord;
use super::creation::CreationSlot;
use crate::ids::{ClientId, Principal};
use crate::sessions::ClientShared;

/// All clients of NFSv4.
#[derive(Debug)]
pub struct ClientRegistry {
    epoch: u32,
    last: u32,
    by_id: BTreeMap<ClientId, ClientRecord>,
    by_owner: HashMap<Box<[u8]>, Runs>,
    of_peer: HashMap<IpAddr, usize>,
}

/// The runs of one owner: at most one that is confirmed, and one that is not yet.
#[derive(Debug, Default)]
struct Runs {
    confirmed: Option<ClientId>,
    unconfirmed: Option<ClientId>,
}

impl ClientRegistry {
    /// None yet.
    pub fn new(epoch: u32) -> Self {
        Self { epoch, last: 0, by_id: BTreeMap::new(), by_owner: HashMap::new(), of_peer: HashMap::new() }
    }

    /// The client with this id.
    pub fn get(&self, id: ClientId) -> Option<&ClientRecord> {
        self.by_id.get(&id)
    }

    /// The client with this id, to be changed; neither its owner nor its address may be.
    pub fn get_mut(&mut self, id: ClientId) -> Option<&mut ClientRecord> {
        self.by_id.get_mut(&id)
    }

    /// The confirmed client of an owner.
    pub fn confirmed(&self, owner: &[u8]) -> Option<&ClientRecord> {
        self.get(self.by_owner.get(owner)?.confirmed?)
    }

    /// The unconfirmed client of an owner.
    pub fn unconfirmed(&self, owner: &[u8]) -> Option<ClientId> {
        self.by_owner.get(owner)?.unconfirmed
    }

    /// Adds an unconfirmed client of an owner that has none.
    pub fn add(
        &mut self,
        now: Duration,
        (owner, verifier): (&[u8], [u8; 8]),
        principal: &Principal,
        (peer, server): (IpAddr, IpAddr),
    ) -> &ClientRecord {
        let id = self.free_id();
        *self.of_peer.entry(peer).or_default() += 1;
        self.by_owner.entry(owner.into()).or_default().unconfirmed = Some(id);
        self.by_id.entry(id).or_insert(ClientRecord {
            id,
            owner: owner.into(),
            verifier,
            principal: principal.clone(),
            peer,
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
        *runs = Runs { confirmed: Some(id), unconfirmed: runs.unconfirmed.filter(|other| *other != id) };
    }

    /// Takes a client out.
    pub fn remove(&mut self, id: ClientId) -> Option<ClientRecord> {
        let record = self.by_id.remove(&id)?;
        if let Some(runs) = self.by_owner.get_mut(&record.owner) {
            runs.confirmed = runs.confirmed.filter(|other| *other != id);
            runs.unconfirmed = runs.unconfirmed.filter(|other| *other != id);
            if runs.confirmed.is_none() && runs.unconfirmed.is_none() {
                self.by_owner.remove(&record.owner);
            }
        }
        if let Some(count) = self.of_peer.get_mut(&record.peer) {
            *count -= 1;
            if *count == 0 {
                self.of_peer.remove(&record.peer);
            }
        }
        Some(record)
    }

    /// All clients, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &ClientRecord> {
        self.by_id.values()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.by_id.len()
    }

    /// How many there are from an address.
    pub fn count_of(&self, peer: IpAddr) -> usize {
        self.of_peer.get(&peer).copied().unwrap_or(0)
    }

    /// A number that no client has; they come round after 2^32 clients.
    fn free_id(&mut self) -> ClientId {
        loop {
            self.last = self.last.wrapping_add(1).max(1);
            let id = ClientId::new(self.epoch, self.last);
            if !self.by_id.contains_key(&id) {
                return id;
            }
        }
    }
}
