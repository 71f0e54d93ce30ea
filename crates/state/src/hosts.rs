//! Hosts that take locks by NLM.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::time::Duration;

use crate::ids::HostId;

/// Hosts that take locks by NLM, by number and by name.
#[derive(Debug, Default)]
pub struct Hosts {
    last: u32,
    by_id: BTreeMap<HostId, HostRecord>,
    by_name: HashMap<Box<[u8]>, HostId>,
}

/// A host.
#[derive(Debug)]
pub struct HostRecord {
    /// What the server needs to know of it after a restart.
    pub name: Box<[u8]>,
    /// The network that it calls from.
    pub network: IpAddr,
    /// Since when it has nothing.
    pub idle_since: Option<Duration>,
}

impl Hosts {
    /// The number of a host; a new one, if there are fewer than `most`.
    pub fn number(&mut self, name: &[u8], network: IpAddr, most: usize) -> Option<HostId> {
        if let Some(&id) = self.by_name.get(name) {
            return Some(id);
        }
        if self.by_id.len() >= most {
            return None;
        }
        self.last += 1;
        let id = HostId(self.last);
        self.by_name.insert(name.into(), id);
        self.by_id.insert(id, HostRecord { name: name.into(), network, idle_since: None });
        Some(id)
    }

    /// The number of a host that has one.
    pub fn find(&self, name: &[u8]) -> Option<HostId> {
        self.by_name.get(name).copied()
    }

    /// The host with this number.
    pub fn get(&self, id: HostId) -> Option<&HostRecord> {
        self.by_id.get(&id)
    }

    /// All hosts.
    pub fn iter(&self) -> impl Iterator<Item = (HostId, &HostRecord)> {
        self.by_id.iter().map(|(id, host)| (*id, host))
    }

    /// Hosts that have had nothing for so long; `is_busy` says which have something.
    pub fn idle(
        &mut self,
        now: Duration,
        longer_than: Duration,
        is_busy: impl Fn(HostId) -> bool,
    ) -> Vec<HostId> {
        for (id, host) in &mut self.by_id {
            host.idle_since = if is_busy(*id) { None } else { Some(host.idle_since.unwrap_or(now)) };
        }
        let is_idle =
            |host: &HostRecord| host.idle_since.is_some_and(|since| now.saturating_sub(since) > longer_than);
        self.iter().filter(|(_, host)| is_idle(host)).map(|(id, _)| id).collect()
    }

    /// Takes a host out.
    pub fn remove(&mut self, id: HostId) -> Option<HostRecord> {
        let host = self.by_id.remove(&id)?;
        self.by_name.remove(&host.name);
        Some(host)
    }
}
