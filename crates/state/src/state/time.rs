//! What time does.

use std::hash::Hash;
use std::time::Duration;

use super::NfsState;
use crate::clients::ClientRecord;
use crate::effects::{ClientEnd, DurableRecord};
use crate::ids::ClientId;

/// A client that has nothing and was silent for so long is not recorded: its first open records it again, which takes a write to disk.
const RECORDED: Duration = Duration::from_secs(5);

impl<K: Clone + Eq + Hash, S> NfsState<K, S> {
    /// Lets time pass: call it about once a second. Grace ends, clients whose time is over end, delegations that do not come back
    /// are revoked, waiters get their turn. Called again with the same
    /// time it does nothing.
    pub fn expire(&mut self, now: Duration) {
        self.end_grace_if_over(now);
        self.end_old_clients(now);
        self.end_surplus_clients(now);
        self.end_blockers(now);
        self.revoke_overdue(now);
        for key in self.files.expire_waits(now, self.settings.lease) {
            self.wake(now, &key);
        }
        self.end_idle_hosts(now);
        self.forget_records_of_nothing(now);
        self.count_memory(now);
    }

    /// Unconfirmed ones live a lease, others a lease and the time of courtesy.
    fn end_old_clients(&mut self, now: Duration) {
        let (lease, courtesy) = (self.settings.lease, self.settings.courtesy);
        let over = self.clients.iter().filter(|record| {
            record.shared.silence(now) > if record.is_confirmed { lease + courtesy } else { lease }
        });
        let over: Vec<ClientId> = over.map(|record| record.id).collect();
        over.into_iter().for_each(|client| self.end_client(now, client, ClientEnd::Expired));
    }

    /// The longest silent of those who are there by courtesy go, if there are too many.
    fn end_surplus_clients(&mut self, now: Duration) {
        let lapsed = self.clients.iter().filter(|record| record.is_lapsed(now, self.settings.lease));
        let mut by_silence: Vec<(Duration, ClientId)> =
            lapsed.map(|record| (record.shared.silence(now), record.id)).collect();
        let surplus = by_silence.len().saturating_sub(self.settings.bounds.courtesy_clients);
        if surplus == 0 {
            return;
        }
        by_silence.sort_unstable_by(|one, other| other.cmp(one));
        by_silence.truncate(surplus);
        by_silence.into_iter().for_each(|(_, client)| self.end_client(now, client, ClientEnd::Expired));
    }

    /// No courtesy while somebody waits.
    fn end_blockers(&mut self, now: Duration) {
        let blockers = self.files.blockers(&|client| self.is_lapsed(now, client));
        self.end_in_the_way(now, blockers);
    }

    /// Not in grace: one that has called may reclaim later.
    fn end_idle_hosts(&mut self, now: Duration) {
        if self.is_grace() {
            return;
        }
        let files = &self.files;
        let idle = self.hosts.idle(now, self.settings.lease, |host| files.has_host(host));
        idle.into_iter().for_each(|host| self.release_host(now, host));
    }

    /// A client that has nothing reclaims nothing: the next start does not wait for it. In grace it may be about to.
    fn forget_records_of_nothing(&mut self, now: Duration) {
        if self.is_grace() {
            return;
        }
        let records = self.journal.records();
        let has_nothing = |record: &&ClientRecord| {
            let is_idle = record.is_complete && record.shared.silence(now) >= RECORDED;
            is_idle && records.is_client(&record.owner) && !self.has_state(record.id)
        };
        let idle = self.clients.iter().filter(has_nothing);
        let idle: Vec<_> = idle.map(|record| (record.owner.clone(), record.principal.clone())).collect();
        for (owner, principal) in idle {
            let record = DurableRecord::RemoveClient { owner, principal, by_itself: true };
            self.journal.write(record, &mut self.effects);
        }
    }
}
