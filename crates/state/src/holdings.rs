//! What clients and hosts hold of files, in tables that do not know each other.

use std::collections::HashSet;
use std::hash::Hash;

use crate::delegations::DelegationTable;
use crate::effects::Effect;
use crate::files::{LockTable, Party, ShareHolder, ShareTable};
use crate::ids::{ByteRange, ClientId, HostId};
use crate::settings::StateSettings;
use crate::states::ClientStates;

/// What clients and hosts hold of files.
#[derive(Debug)]
pub struct Holdings<K> {
    /// Who has them open.
    pub shares: ShareTable<K>,
    /// Who has locked what, or waits for it.
    pub locks: LockTable<K>,
    /// Who has delegations.
    pub delegations: DelegationTable<K>,
}

impl<K: Clone + Eq + Hash> Holdings<K> {
    /// None yet.
    pub fn new(settings: &StateSettings) -> Self {
        let bounds = &settings.bounds;
        Self {
            shares: ShareTable::default(),
            locks: LockTable::new(bounds.clone()),
            delegations: DelegationTable::new(settings.rest, bounds.delegated_children),
        }
    }

    /// Whether nobody may have a delegation of a file.
    pub fn excludes_delegations(&self, key: &K) -> bool {
        let LockTable { ranges, waits, .. } = &self.locks;
        self.shares.excludes_delegations(key) || ranges.has_writer(key) || waits.has_writer(key)
    }

    /// Ends an open, with the locks under it (RFC 8881 18.2.3). Its file.
    pub fn end_open(
        &mut self,
        states: &mut ClientStates<K>,
        index: u32,
        effects: &mut Vec<Effect<K>>,
    ) -> Option<K> {
        let name = states.name(index);
        let (open, owners) = states.remove_open(index)?;
        owners.iter().for_each(|owner| self.locks.end(&open.key, owner, ByteRange::ALL, effects));
        self.shares.set(&open.key, &ShareHolder::Open(name), None);
        effects.push(Effect::Closed { open: name, key: open.key.clone() });
        Some(open.key)
    }

    /// Ends all that a client has. Files where others may be next.
    pub fn end_client(
        &mut self,
        client: ClientId,
        mut states: ClientStates<K>,
        effects: &mut Vec<Effect<K>>,
    ) -> Vec<K> {
        let mut freed = self.locks.forget_waits(client);
        states.delegations().for_each(|key| self.delegations.end(key, client));
        let opens: Vec<u32> = states.opens().collect();
        freed.extend(opens.into_iter().filter_map(|open| self.end_open(&mut states, open, effects)));
        states.end();
        freed
    }

    /// Ends all that a host has. Files where others may be next.
    pub fn end_host(&mut self, host: HostId, effects: &mut Vec<Effect<K>>) -> Vec<K> {
        self.shares.end_host(host);
        self.locks.end_host(host, effects)
    }

    /// How much a client or host has locked, waits for and shares: in what number, and in bytes of memory.
    pub fn usage(&self, party: Party) -> (usize, usize) {
        let Self { shares, locks: LockTable { ranges, waits, .. }, .. } = self;
        let all = [ranges.usage(), waits.usage(), shares.usage()];
        all.iter()
            .fold((0, 0), |(count, bytes), usage| (count + usage.count(party), bytes + usage.bytes(party)))
    }

    /// Files of which somebody has something.
    pub fn count(&self) -> usize {
        let keys = self.shares.keys().chain(self.locks.ranges.keys()).chain(self.delegations.keys());
        keys.collect::<HashSet<_>>().len()
    }

    /// Gives memory back once most of what there was is gone.
    pub fn shrink(&mut self) {
        self.shares.shrink();
        self.locks.ranges.shrink();
    }
}
