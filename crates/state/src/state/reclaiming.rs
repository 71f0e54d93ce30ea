//! Who may reclaim: clients of this server after a restart (RFC 8881 18.51), and those of a server whose address this one takes over.

use std::hash::Hash;
use std::net::IpAddr;
use std::time::Duration;

use super::NfsState;
use crate::effects::{ClientEnd, DurableRecord};
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
        if self.reclaims.complete(now, record) {
            self.files.locks.waited_for().iter().for_each(|key| self.wake(now, key));
        }
        Ok(())
    }

    /// Clients of another server may reclaim here what they had there: `taken` is what
    /// [`RecoveryRecords::to_take_over`](crate::RecoveryRecords::to_take_over) gave. Grace begins, in which nobody gets anything else.
    /// Without clients nothing changes.
    pub fn take_over(&mut self, now: Duration, taken: Vec<DurableRecord>) {
        if taken.is_empty() {
            return;
        }
        let (clients, until) = (&self.clients, (now, self.settings.grace));
        // One that is here already, and has completed, does not do so again.
        let is_complete = |owner: &[u8]| clients.confirmed(owner).is_some_and(|client| client.is_complete);
        self.reclaims.take_over(until, taken, is_complete);
    }

    /// Another server has taken over an address: clients that call it here end, with what they have. `is_host_of` says whether an NLM
    /// host calls it.
    pub fn leave_server(&mut self, now: Duration, server: IpAddr, is_host_of: impl Fn(&[u8]) -> bool) {
        let clients = self.clients.iter().filter(|client| client.server == server);
        let clients: Vec<ClientId> = clients.map(|client| client.id).collect();
        self.end_clients(now, clients, ClientEnd::Released);
        let hosts = self.hosts.iter().filter(|(_, host)| is_host_of(&host.name));
        let hosts: Vec<HostId> = hosts.map(|(host, _)| host).collect();
        hosts.into_iter().for_each(|host| self.release_host(now, host));
    }
}
