//! What the durable log comes to: who may reclaim.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use crate::effects::DurableRecord;
use crate::ids::Principal;

/// What the durable log comes to. The server applies what it reads and starts an [`NfsState`](crate::NfsState) with it; when the log
/// has grown, it writes [`Self::compact`] in its place.
///
/// Clients of the present run are kept apart from those of earlier runs who did not come back yet: after a restart within grace those
/// may still reclaim, since nobody got anything else meanwhile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecoveryRecords {
    epoch: u32,
    earlier: Known,
    present: Known,
}

/// Clients and hosts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Known {
    clients: BTreeMap<Box<[u8]>, KnownClient>,
    hosts: BTreeSet<Box<[u8]>>,
}

/// Who a client is, and which of our addresses it calls.
#[derive(Debug, Clone, PartialEq, Eq)]
struct KnownClient {
    principal: Principal,
    server: Option<IpAddr>,
}

impl Known {
    fn remove_client(&mut self, owner: &[u8], principal: &Principal) {
        if self.is_client(owner, principal) {
            self.clients.remove(owner);
        }
    }

    fn is_client(&self, owner: &[u8], principal: &Principal) -> bool {
        self.clients.get(owner).is_some_and(|client| client.principal == *principal)
    }

    fn retain(&mut self, stays: impl Fn(Option<IpAddr>) -> bool, host_stays: impl Fn(&[u8]) -> bool) {
        self.clients.retain(|_, client| stays(client.server));
        self.hosts.retain(|host| host_stays(host));
    }

    fn is_empty(&self) -> bool {
        self.clients.is_empty() && self.hosts.is_empty()
    }

    fn lines(&self) -> impl Iterator<Item = DurableRecord> + '_ {
        let clients = self.clients.iter().map(|(owner, client)| DurableRecord::AddClient {
            owner: owner.clone(),
            principal: client.principal.clone(),
            server: client.server,
        });
        clients.chain(self.hosts.iter().map(|host| DurableRecord::AddHost { host: host.clone() }))
    }
}

impl RecoveryRecords {
    /// Reads the next line of the log.
    pub fn apply(&mut self, record: &DurableRecord) {
        match record {
            DurableRecord::Start { epoch } => self.start(*epoch),
            DurableRecord::AddClient { owner, principal, server } => {
                let client = KnownClient { principal: principal.clone(), server: *server };
                self.present.clients.insert(owner.clone(), client);
            }
            DurableRecord::RemoveClient { owner, principal, .. } => {
                self.earlier.remove_client(owner, principal);
                self.present.remove_client(owner, principal);
            }
            DurableRecord::AddHost { host } => {
                self.present.hosts.insert(host.clone());
            }
            DurableRecord::RemoveHost { host } => {
                self.earlier.hosts.remove(host);
                self.present.hosts.remove(host);
            }
            DurableRecord::TakeClient { owner, principal, server } => {
                let client = KnownClient { principal: principal.clone(), server: *server };
                self.earlier.clients.insert(owner.clone(), client);
            }
            DurableRecord::TakeHost { host } => {
                self.earlier.hosts.insert(host.clone());
            }
            DurableRecord::EndGrace => self.earlier = Known::default(),
        }
    }

    /// Whether these records, which come next, may be lost in a crash: a client that could reclaim then can do so anyway, or
    /// knows that it has nothing to reclaim.
    pub fn can_lose<'r>(&self, missing: impl IntoIterator<Item = &'r DurableRecord>) -> bool {
        let mut all = self.clone();
        for record in missing {
            match record {
                DurableRecord::TakeClient { .. } | DurableRecord::TakeHost { .. } => return false,
                DurableRecord::RemoveClient { owner, principal, by_itself }
                    if !by_itself && self.knows_client(owner, principal) =>
                {
                    return false;
                }
                // A host is removed when it restarts or frees all, or has had nothing for long.
                DurableRecord::RemoveClient { .. } | DurableRecord::RemoveHost { .. } => {}
                _ => all.apply(record),
            }
        }
        [&self.earlier, &self.present].iter().all(|known| {
            known.clients.iter().all(|(owner, client)| all.knows_client(owner, &client.principal))
                && known.hosts.iter().all(|host| all.knows_host(host))
        })
    }

    /// Whether anything is recorded of the client or host that this record names.
    pub fn knows(&self, record: &DurableRecord) -> bool {
        match record {
            DurableRecord::AddClient { owner, principal, .. }
            | DurableRecord::TakeClient { owner, principal, .. }
            | DurableRecord::RemoveClient { owner, principal, .. } => self.knows_client(owner, principal),
            DurableRecord::AddHost { host }
            | DurableRecord::TakeHost { host }
            | DurableRecord::RemoveHost { host } => self.knows_host(host),
            DurableRecord::Start { .. } | DurableRecord::EndGrace => false,
        }
    }

    /// Whether a client or host that rests on this record, which comes next, may reclaim after a crash also if the record is lost, or
    /// needs not.
    pub fn covers(&self, record: &DurableRecord) -> bool {
        match record {
            DurableRecord::AddClient { .. } | DurableRecord::AddHost { .. } => self.knows(record),
            DurableRecord::RemoveClient { by_itself, .. } => *by_itself,
            _ => false,
        }
    }

    fn start(&mut self, epoch: u32) {
        self.epoch = epoch;
        let present = std::mem::take(&mut self.present);
        // In a run whose grace did not end nobody got anything but what was reclaimed: clients of earlier runs and of servers that
        // were taken over may still come, and those of this run keep what they have.
        for (owner, client) in present.clients {
            self.earlier.clients.entry(owner).or_insert(client);
        }
        self.earlier.hosts.extend(present.hosts);
    }

    /// What a server writes that takes over the clients who call one address of this one. `is_host_of` says whether an NLM host calls it.
    pub fn to_take_over(&self, server: IpAddr, is_host_of: impl Fn(&[u8]) -> bool) -> Vec<DurableRecord> {
        let mut all = self.earlier.clone();
        all.clients.extend(self.present.clients.clone());
        all.hosts.extend(self.present.hosts.iter().cloned());
        all.retain(|known| known == Some(server), is_host_of);
        let taken = all.lines().map(|line| match line {
            DurableRecord::AddClient { owner, principal, server } => {
                DurableRecord::TakeClient { owner, principal, server }
            }
            DurableRecord::AddHost { host } => DurableRecord::TakeHost { host },
            other => other,
        });
        taken.collect()
    }

    /// Forgets those who call addresses that another server has taken over. Clients of which no address is known stay.
    pub fn leave(&mut self, is_gone: impl Fn(IpAddr) -> bool, is_host_gone: impl Fn(&[u8]) -> bool) {
        for known in [&mut self.earlier, &mut self.present] {
            known.retain(|server| !server.is_some_and(&is_gone), |host| !is_host_gone(host));
        }
    }

    /// Our addresses that clients of NFSv4 call.
    pub fn servers(&self) -> BTreeSet<IpAddr> {
        let clients = self.earlier.clients.values().chain(self.present.clients.values());
        clients.filter_map(|client| client.server).collect()
    }

    /// The epoch for the next run.
    pub fn next_epoch(&self) -> u32 {
        self.epoch.wrapping_add(1).max(1)
    }

    /// A log that comes to the same.
    pub fn compact(&self) -> Vec<DurableRecord> {
        let mut log: Vec<DurableRecord> = self.earlier.lines().collect();
        log.push(DurableRecord::Start { epoch: self.epoch });
        log.extend(self.present.lines());
        log
    }

    /// Whether somebody of an earlier run may reclaim.
    pub(crate) fn has_earlier(&self) -> bool {
        !self.earlier.is_empty()
    }

    /// Clients of earlier runs that may reclaim, by their names of themselves.
    pub fn earlier_clients(&self) -> impl Iterator<Item = &[u8]> {
        self.earlier.clients.keys().map(|owner| &**owner)
    }

    /// Clients of this run that may reclaim after the next start, by their names of themselves.
    pub fn present_clients(&self) -> impl Iterator<Item = &[u8]> {
        self.present.clients.keys().map(|owner| &**owner)
    }

    /// NLM hosts of earlier runs that may reclaim.
    pub fn earlier_hosts(&self) -> impl Iterator<Item = &[u8]> {
        self.earlier.hosts.iter().map(|host| &**host)
    }

    /// NLM hosts of this run.
    pub fn present_hosts(&self) -> impl Iterator<Item = &[u8]> {
        self.present.hosts.iter().map(|host| &**host)
    }

    /// Whether this client of an earlier run is this principal's.
    pub(crate) fn was_client(&self, owner: &[u8], principal: &Principal) -> bool {
        self.earlier.is_client(owner, principal)
    }

    /// Whether an earlier run had this host.
    pub(crate) fn was_host(&self, host: &[u8]) -> bool {
        self.earlier.hosts.contains(host)
    }

    /// Whether the client is recorded for this run.
    pub(crate) fn is_client(&self, owner: &[u8]) -> bool {
        self.present.clients.contains_key(owner)
    }

    /// Whether the host is recorded for this run.
    pub(crate) fn is_host(&self, host: &[u8]) -> bool {
        self.present.hosts.contains(host)
    }

    /// Whether anything of this principal's client is recorded.
    pub(crate) fn knows_client(&self, owner: &[u8], principal: &Principal) -> bool {
        [&self.earlier, &self.present].iter().any(|known| known.is_client(owner, principal))
    }

    /// Whether anything of a host is recorded.
    pub(crate) fn knows_host(&self, host: &[u8]) -> bool {
        self.is_host(host) || self.was_host(host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(name: u8) -> DurableRecord {
        DurableRecord::AddClient { owner: [name].into(), principal: Principal([name].into()), server: None }
    }

    fn remove(name: u8, by_itself: bool) -> DurableRecord {
        DurableRecord::RemoveClient { owner: [name].into(), principal: Principal([name].into()), by_itself }
    }

    fn earlier(log: &[DurableRecord]) -> Vec<u8> {
        let mut records = RecoveryRecords::default();
        log.iter().for_each(|line| records.apply(line));
        let mut again = RecoveryRecords::default();
        records.compact().iter().for_each(|line| again.apply(line));
        assert_eq!(again, records, "compacted");
        records.earlier_clients().map(|owner| owner[0]).collect()
    }

    #[test]
    fn those_of_the_last_run_may_reclaim_and_those_of_earlier_ones_until_grace_ends() {
        let start = |epoch| DurableRecord::Start { epoch };
        let remove = remove(1, false);
        assert_eq!(earlier(&[start(1), add(1), add(2)]), []);
        assert_eq!(earlier(&[start(1), add(1), add(2), start(2)]), [1, 2]);
        assert_eq!(earlier(&[start(1), add(1), add(2), remove.clone(), start(2)]), [2]);
        let end = DurableRecord::EndGrace;
        assert_eq!(earlier(&[start(1), add(1), add(2), start(2), add(2), end.clone(), start(3)]), [2]);
        assert_eq!(
            earlier(&[start(1), add(1), add(2), start(2), add(2), start(3)]),
            [1, 2],
            "no end of grace"
        );
        assert_eq!(earlier(&[start(1), add(1), add(2), start(2), add(1), remove, start(3), end]), []);
    }

    #[test]
    fn records_may_be_lost_while_nobody_can_reclaim_what_it_lost() {
        let mut durable = RecoveryRecords::default();
        [DurableRecord::Start { epoch: 1 }, add(1), add(2)].iter().for_each(|line| durable.apply(line));
        let (start, end) = (DurableRecord::Start { epoch: 2 }, DurableRecord::EndGrace);
        let can_lose = |missing: &[DurableRecord]| durable.can_lose(missing);
        assert!(can_lose(&[add(3), remove(3, false)]), "a new client");
        assert!(!can_lose(&[remove(2, false)]), "somebody else may have what it had");
        assert!(can_lose(&[remove(2, true)]), "it unmounted, or restarted");
        assert!(can_lose(&[remove(2, true), add(2)]));
        // A server that could write nothing since it started.
        assert!(can_lose(&[start.clone(), add(1)]), "in grace nobody gets anything else");
        assert!(can_lose(&[start.clone(), add(1), add(2), end.clone()]), "all came back");
        assert!(!can_lose(&[start, add(1), end]), "others may have what the second one had");
        assert!(durable.covers(&add(1)) && !durable.covers(&add(3)));
        assert!(durable.covers(&remove(1, true)) && !durable.covers(&remove(1, false)));
    }
}
