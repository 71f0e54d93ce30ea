//! How clients and hosts end, and what becomes of what they had.

use std::collections::HashSet;
use std::hash::Hash;
use std::time::Duration;

use super::NfsState;
use crate::clients::{ClientCaller, ClientRecord};
use crate::effects::{ClientEnd, DurableRecord, Effect};
use crate::error::StateError;
use crate::files::ShareHolder;
use crate::ids::{ByteRange, ClientId, HostId, Principal};
use crate::states::ClientStates;

impl<K: Clone + Eq + Hash, S> NfsState<K, S> {
    /// DESTROY_CLIENTID (RFC 8881 18.50).
    ///
    /// # Errors
    ///
    /// [`StateError::StaleClientId`] if unknown, or not this caller's; [`StateError::ClientIdBusy`] with sessions, opens or locks.
    pub fn destroy_client_id(
        &mut self,
        now: Duration,
        client: ClientId,
        caller: ClientCaller<'_>,
    ) -> Result<(), StateError> {
        let record = self.clients.of_caller(client, caller);
        let record = record.filter(|record| record.principal == *caller.principal);
        let record = record.ok_or(StateError::StaleClientId)?;
        if !record.sessions.is_empty() || self.has_state(client) {
            return Err(StateError::ClientIdBusy);
        }
        self.end_client(now, client, ClientEnd::Destroyed);
        Ok(())
    }

    /// Files that a client has open, of which so many at most. Of one that is gone no CLOSE ever comes: clients look at a file before they
    /// close it.
    pub fn files_of_client(&self, client: ClientId, most: usize) -> Vec<K> {
        let states = self.states.get(&client);
        let opens = states.into_iter().flat_map(|states| {
            states.opens().filter_map(|open| states.open(open).map(|open| open.key.clone()))
        });
        opens.take(most).collect()
    }

    /// Files that a client has open are gone: its opens of them end.
    pub fn files_are_gone(&mut self, now: Duration, client: ClientId, gone: &HashSet<K>) {
        let states = self.states.get(&client);
        let opens: Vec<u32> = states.map_or_else(Vec::new, |states| {
            let is_gone = |open: &u32| states.open(*open).is_some_and(|open| gone.contains(&open.key));
            states.opens().filter(is_gone).collect()
        });
        opens.into_iter().for_each(|open| {
            self.end_open(client, open);
        });
        gone.iter().for_each(|key| self.wake(now, key));
    }

    /// An administrator takes everything from a client. Whether there was one.
    pub fn release_client(&mut self, now: Duration, client: ClientId) -> bool {
        let is_there = self.clients.get(client).is_some();
        self.end_client(now, client, ClientEnd::Released);
        is_there
    }

    /// A host restarted (SM_NOTIFY), or frees all (FREE_ALL), or an administrator takes all from it. Its number ends.
    pub fn release_host(&mut self, now: Duration, host: HostId) {
        let Some(record) = self.hosts.remove(host) else { return };
        let keys = self.files.keys_of_host(host);
        for key in &keys {
            self.files.forget_waits(key, |waiter| waiter.owner.host() == Some(host));
            for owner in self.files.owners_of_host(key, host) {
                self.files.set_range(key, &owner, ByteRange::ALL, None, &mut self.effects);
            }
            for owner in self.files.shares_of_host(key, host) {
                self.files.set_share(key, ShareHolder::Nlm(owner), None);
            }
        }
        if self.journal.records().knows_host(&record.name) {
            self.journal.write(DurableRecord::RemoveHost { host: record.name }, &mut self.effects);
        }
        self.effects.push(Effect::HostEnded { host });
        keys.iter().for_each(|key| self.wake(now, key));
    }

    /// A client ends with sessions, opens, locks and its durable record.
    pub(super) fn end_client(&mut self, now: Duration, client: ClientId, why: ClientEnd) {
        self.end(now, client, why, why == ClientEnd::Destroyed);
    }

    /// The same of one whose name a client of this principal has now. If it is the same principal, the client restarted.
    pub(super) fn replace_client(&mut self, now: Duration, client: ClientId, by: &Principal) {
        let by_itself = self.clients.get(client).is_some_and(|record| record.principal == *by);
        self.end(now, client, ClientEnd::Replaced, by_itself);
    }

    fn end(&mut self, now: Duration, client: ClientId, why: ClientEnd, by_itself: bool) {
        let Some(record) = self.clients.remove(client) else { return };
        for session in &record.sessions {
            self.sessions.remove(*session);
        }
        // First of all, so that its record is gone before anybody gets what it had.
        self.forget_record(&record, by_itself);
        let mut freed = self.files.forget_client(client);
        self.end_delegations(client);
        freed.extend(self.end_opens(client));
        if record.is_confirmed {
            self.effects.push(Effect::ClientEnded { client, owner: record.owner, why });
        }
        freed.iter().for_each(|key| self.wake(now, key));
    }

    fn forget_record(&mut self, record: &ClientRecord, by_itself: bool) {
        let ClientRecord { owner, principal, .. } = record;
        if record.is_confirmed && self.journal.records().knows_client(owner, principal) {
            let (owner, principal) = (owner.clone(), principal.clone());
            if self.journal.records().was_client(&owner, &principal) {
                self.grace.complete(&owner);
            }
            let record = DurableRecord::RemoveClient { owner, principal, by_itself };
            self.journal.write(record, &mut self.effects);
        }
    }

    /// Ends all opens of a client, with the locks under them. Files that were locked.
    fn end_opens(&mut self, client: ClientId) -> Vec<K> {
        let opens: Vec<u32> =
            self.states.get(&client).into_iter().flat_map(|states| states.opens()).collect();
        let freed = opens.into_iter().filter_map(|open| self.end_open(client, open)).collect();
        self.states.remove(&client).into_iter().for_each(ClientStates::end);
        freed
    }

    /// Ends an open, with the locks under it (RFC 8881 18.2.3). Its file.
    pub(super) fn end_open(&mut self, client: ClientId, index: u32) -> Option<K> {
        let states = self.states.get_mut(&client)?;
        let name = states.name(index);
        let (open, owners) = states.remove_open(index)?;
        for owner in owners {
            self.files.set_range(&open.key, &owner, ByteRange::ALL, None, &mut self.effects);
        }
        self.files.set_share(&open.key, ShareHolder::Open(name), None);
        self.effects.push(Effect::Closed { open: name, key: open.key.clone() });
        Some(open.key)
    }

    /// Clients whose lease has passed end, since somebody wants what they have.
    pub(super) fn end_in_the_way(&mut self, now: Duration, clients: Vec<ClientId>) {
        clients.into_iter().for_each(|client| self.end_client(now, client, ClientEnd::Conflict));
    }

    /// Serves who waits for something of a file. In grace nobody is: what is free may be reclaimed. Its end serves them.
    pub(super) fn wake(&mut self, now: Duration, key: &K) {
        if self.grace.is_on() {
            return;
        }
        let until = now + self.settings.turn;
        for grant in self.files.wake(key, now, until, &mut self.effects) {
            let crate::ids::LockOwner::Nlm(owner) = grant.owner.clone() else { continue };
            self.record_host(owner.host);
            self.rest_on_host(owner.host);
            self.effects.push(Effect::Granted { owner, grant });
        }
    }
}
