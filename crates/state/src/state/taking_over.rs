//! Servers that stand in for each other: one takes over an address with the clients that call it, and the other lets them go.

use std::hash::Hash;
use std::net::IpAddr;
use std::time::Duration;

use super::NfsState;
use crate::effects::{ClientEnd, DurableRecord};
use crate::ids::{ClientId, HostId};

impl<K: Clone + Eq + Hash, S> NfsState<K, S> {
    /// Clients of another server may reclaim here what they had there: `taken` is what
    /// [`RecoveryRecords::to_take_over`](crate::RecoveryRecords::to_take_over) gave. Grace begins, in which nobody gets anything else.
    /// Without clients nothing changes.
    pub fn take_over(&mut self, now: Duration, taken: Vec<DurableRecord>) {
        if taken.is_empty() {
            return;
        }
        let (mut clients, mut has_hosts) = (Vec::new(), false);
        for record in taken {
            match &record {
                // One that is here already, and has completed, does not do so again.
                DurableRecord::TakeClient { owner, .. } => {
                    let here = self.clients.confirmed(owner);
                    if !here.is_some_and(|client| client.is_complete) {
                        clients.push(owner.clone());
                    }
                }
                DurableRecord::TakeHost { .. } => has_hosts = true,
                _ => {}
            }
            self.journal.write(record, &mut self.effects);
        }
        let clients = clients.iter().map(|owner| &**owner);
        self.grace.extend((now, self.settings.grace), clients, has_hosts);
        self.journal.rest_on_all();
    }

    /// Another server has taken over an address: clients that call it here end, with what they have. `is_host_of` says whether an NLM
    /// host calls it.
    pub fn leave_server(&mut self, now: Duration, server: IpAddr, is_host_of: impl Fn(&[u8]) -> bool) {
        let clients = self.clients.iter().filter(|client| client.server == server);
        let clients: Vec<ClientId> = clients.map(|client| client.id).collect();
        clients.into_iter().for_each(|client| self.end_client(now, client, ClientEnd::Released));
        let hosts = self.hosts.iter().filter(|(_, host)| is_host_of(&host.name));
        let hosts: Vec<HostId> = hosts.map(|(host, _)| host).collect();
        hosts.into_iter().for_each(|host| self.release_host(now, host));
    }
}
