//! What time does.

use std::hash::Hash;
use std::time::Duration;

use super::NfsState;
use crate::effects::ClientEnd;
use crate::files::Party;

/// A client that has nothing and was silent for so long is not recorded: its first open records it again, which takes a write to disk.
const RECORDED: Duration = Duration::from_secs(5);

impl<K: Clone + Eq + Hash, S> NfsState<K, S> {
    /// Lets time pass: call it about once a second. Grace ends, clients whose time is over end, delegations that do not come back
    /// are revoked, waiters get their turn. Called again with the same
    /// time it does nothing.
    pub fn expire(&mut self, now: Duration) {
        if self.reclaims.end_grace(now) {
            self.files.locks.waited_for().iter().for_each(|key| self.wake(now, key));
        }
        let over = self.clients.over(now, self.settings.courtesy);
        self.end_clients(now, over, ClientEnd::Expired);
        // The longest silent of those who are there by courtesy go, if there are too many.
        let mut surplus = self.clients.lapsed(now, None);
        surplus.truncate(surplus.len().saturating_sub(self.settings.bounds.courtesy_clients));
        self.end_clients(now, surplus, ClientEnd::Expired);
        // No courtesy while somebody waits.
        let blockers = self.files.locks.blockers(&|client| self.clients.is_lapsed(now, client));
        self.end_clients(now, blockers, ClientEnd::Conflict);
        self.revoke_overdue(now);
        for key in self.files.locks.expire_waits(now, self.settings.lease) {
            self.wake(now, &key);
        }
        if !self.is_grace() {
            // One that has called in grace may reclaim later.
            let idle =
                self.hosts.idle(now, self.settings.lease, |host| self.files.usage(Party::Host(host)).0 > 0);
            idle.into_iter().for_each(|host| self.release_host(now, host));
            // A client that has nothing reclaims nothing: the next start does not wait for it. In grace it may be about to.
            for client in self.clients.iter().filter(|client| client.is_complete) {
                let is_idle = client.shared.silence(now) >= RECORDED && !self.states.has_any(client.id);
                if is_idle && self.reclaims.records().is_client(&client.owner) {
                    self.reclaims.forget_client(client, true);
                }
            }
        }
        self.count_memory(now);
    }
}
