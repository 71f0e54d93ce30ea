//! How clients and hosts end, and what becomes of what they had.

use std::collections::HashSet;
use std::hash::Hash;
use std::time::Duration;

use super::NfsState;
use crate::clients::ClientCaller;
use crate::effects::{ClientEnd, Effect};
use crate::error::StateError;
use crate::ids::{ClientId, HostId};

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
        if !record.sessions.is_empty() || self.states.has_any(client) {
            return Err(StateError::ClientIdBusy);
        }
        self.end_client(now, client, ClientEnd::Destroyed, true);
        Ok(())
    }

    /// Files that a client has open, of which so many at most. Of one that is gone no CLOSE ever comes: clients look at a file before they
    /// close it.
    pub fn files_of_client(&self, client: ClientId, most: usize) -> Vec<K> {
        let states = self.states.of(client);
        let opens = states.into_iter().flat_map(|states| {
            states.opens().filter_map(|open| states.open(open).map(|open| open.key.clone()))
        });
        opens.take(most).collect()
    }

    /// Files that a client has open are gone: its opens of them end.
    pub fn files_are_gone(&mut self, now: Duration, client: ClientId, gone: &HashSet<K>) {
        if let Ok(states) = self.states.of_mut(client) {
            let is_gone = |open: &u32| states.open(*open).is_some_and(|open| gone.contains(&open.key));
            let opens: Vec<u32> = states.opens().filter(is_gone).collect();
            for open in opens {
                self.files.end_open(states, open, self.reclaims.effects());
            }
        }
        gone.iter().for_each(|key| self.wake(now, key));
    }

    /// An administrator takes everything from a client. Whether there was one.
    pub fn release_client(&mut self, now: Duration, client: ClientId) -> bool {
        let is_there = self.clients.get(client).is_some();
        self.end_client(now, client, ClientEnd::Released, false);
        is_there
    }

    /// A host restarted (SM_NOTIFY), or frees all (FREE_ALL), or an administrator takes all from it. Its number ends.
    pub fn release_host(&mut self, now: Duration, host: HostId) {
        let Some(record) = self.hosts.remove(host) else { return };
        let freed = self.files.end_host(host, self.reclaims.effects());
        self.reclaims.forget_host(record);
        self.reclaims.effects().push(Effect::HostEnded { host });
        freed.iter().for_each(|key| self.wake(now, key));
    }

    /// A client ends with sessions, opens, locks and its durable record. One that said so, or restarted, gave all back `by_itself`.
    pub(super) fn end_client(&mut self, now: Duration, client: ClientId, why: ClientEnd, by_itself: bool) {
        let Some(record) = self.clients.remove(client) else { return };
        for session in &record.sessions {
            self.sessions.remove(*session);
        }
        // First of all, so that its record is gone before anybody gets what it had.
        if record.is_confirmed {
            self.reclaims.forget_client(&record, by_itself);
        }
        let states = self.states.remove(client).into_iter();
        let freed = states.flat_map(|states| self.files.end_client(client, states, self.reclaims.effects()));
        let freed: Vec<K> = freed.collect();
        if record.is_confirmed {
            self.reclaims.effects().push(Effect::ClientEnded { client, owner: record.owner, why });
        }
        freed.iter().for_each(|key| self.wake(now, key));
    }

    /// Clients whose lease has passed, or whom nobody misses, end.
    pub(super) fn end_clients(&mut self, now: Duration, clients: Vec<ClientId>, why: ClientEnd) {
        clients.into_iter().for_each(|client| self.end_client(now, client, why, false));
    }
}
