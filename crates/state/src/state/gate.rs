//! Who may get something now: grace, and reclaims (RFC 8881 8.4.2, 18.51).

use std::hash::Hash;
use std::time::Duration;

use super::NfsState;
use crate::effects::DurableRecord;
use crate::error::StateError;
use crate::ids::{ClientId, HostId};

impl<K: Clone + Eq + Hash, S> NfsState<K, S> {
    /// RECLAIM_COMPLETE (RFC 8881 18.51). For one file system (`rca_one_fs`) it changes nothing.
    ///
    /// # Errors
    ///
    /// [`StateError::CompleteAlready`]; [`StateError::Expired`] if the client is gone.
    pub fn reclaim_complete(
        &mut self,
        now: Duration,
        client: ClientId,
        one_fs: bool,
    ) -> Result<(), StateError> {
        let record = self.clients.get_mut(client).ok_or(StateError::Expired)?;
        if one_fs {
            return Ok(());
        }
        if record.is_complete {
            return Err(StateError::CompleteAlready);
        }
        record.is_complete = true;
        if self.journal.records().was_client(&record.owner, &record.principal) {
            self.grace.complete(&record.owner);
        }
        self.record_client(client);
        self.end_grace_if_over(now);
        self.rest_on_client(client);
        Ok(())
    }

    /// Ends grace if it is time to: those who did not come back are forgotten.
    pub(super) fn end_grace_if_over(&mut self, now: Duration) {
        if self.grace.ends(now) {
            self.journal.write(DurableRecord::EndGrace, &mut self.effects);
            self.files.waited_for().iter().for_each(|key| self.wake(now, key));
        }
    }

    /// Whether a client may get something now.
    pub(super) fn admit_client(&self, client: ClientId, is_reclaim: bool) -> Result<(), StateError> {
        let record = self.clients.get(client).ok_or(StateError::Expired)?;
        match is_reclaim {
            true if !self.grace.is_on() || record.is_complete => Err(StateError::NoGrace),
            true if !self.journal.records().was_client(&record.owner, &record.principal) => {
                Err(StateError::ReclaimBad)
            }
            false if self.grace.is_on() || !record.is_complete => Err(StateError::Grace),
            _ => Ok(()),
        }
    }

    /// Whether a host may get something now.
    pub(super) fn admit_host(&self, host: HostId, is_reclaim: bool) -> Result<(), StateError> {
        let host = self.hosts.get(host).ok_or(StateError::NoSpace)?;
        match is_reclaim {
            true if !self.grace.is_on() => Err(StateError::NoGrace),
            true if !self.journal.records().was_host(&host.name) => Err(StateError::ReclaimBad),
            false if self.grace.is_on() => Err(StateError::Grace),
            _ => Ok(()),
        }
    }

    /// A client was granted something: it rests on the records so far, its own among them.
    pub(super) fn granted_to_client(&mut self, now: Duration, client: ClientId, is_reclaim: bool) {
        if is_reclaim {
            self.grace.reclaimed(now);
        }
        self.record_client(client);
        self.rest_on_client(client);
    }

    /// A host was granted something.
    pub(super) fn granted_to_host(&mut self, now: Duration, host: HostId, is_reclaim: bool) {
        if is_reclaim {
            self.grace.reclaimed(now);
        }
        self.record_host(host);
        self.rest_on_host(host);
    }

    fn rest_on_client(&mut self, client: ClientId) {
        self.journal.rest_on(self.clients.get(client).map(|record| &*record.owner));
    }

    pub(super) fn rest_on_host(&mut self, host: HostId) {
        self.journal.rest_on(self.hosts.get(host).map(|record| &*record.name));
    }

    fn record_client(&mut self, client: ClientId) {
        let Some(record) = self.clients.get(client) else { return };
        if !self.journal.records().is_client(&record.owner) {
            let (owner, principal) = (record.owner.clone(), record.principal.clone());
            let server = Some(record.server);
            self.journal.write(DurableRecord::AddClient { owner, principal, server }, &mut self.effects);
        }
    }

    pub(super) fn record_host(&mut self, host: HostId) {
        let Some(record) = self.hosts.get(host) else { return };
        if !self.journal.records().is_host(&record.name) {
            let host = record.name.clone();
            self.journal.write(DurableRecord::AddHost { host }, &mut self.effects);
        }
    }
}
