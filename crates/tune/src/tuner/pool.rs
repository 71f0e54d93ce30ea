//! The connections, and the memory that they share. Whoever owns the sockets tells of them and of their samples, and applies
//! the changes that come back.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Connection, Settings};
use crate::Sample;
use crate::budget::{MemoryUse, Pressure, Valve};
use crate::sizes::{Change, Room, Share};

/// Connections that are told to offer less in one look at the memory: the greatest part of them, so that memory comes back
/// in seconds, but not all at once.
const VICTIMS: usize = 4;

/// Sizes all connections. `K` is whatever the owner names them by.
#[derive(Debug)]
pub struct Tuner<K> {
    pub(super) settings: Settings,
    pub(super) connections: BTreeMap<K, Connection>,
    valve: Valve,
    totals: Totals,
    used: MemoryUse,
}

/// Sums over all connections, kept up with each sample: going through all of them for each sample of each would be
/// quadratic.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Totals {
    busy: u64,
    promised: u64,
}

impl Totals {
    fn of(connection: &Connection, now: Duration) -> Self {
        Self { busy: u64::from(connection.is_busy(now)), promised: connection.promised() }
    }

    fn replace(&mut self, before: Self, after: Self) {
        self.busy = (self.busy + after.busy).saturating_sub(before.busy);
        self.promised = (self.promised + after.promised).saturating_sub(before.promised);
    }
}

impl<K: Ord + Copy> Tuner<K> {
    /// Without connections.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            connections: BTreeMap::new(),
            valve: Valve::default(),
            totals: Totals::default(),
            used: MemoryUse::default(),
        }
    }

    /// A connection was opened, to a peer on this host or not: what to tell its socket.
    pub fn on_open(&mut self, key: K, is_local: bool) -> Vec<Change> {
        let mut connection = Connection::new(&self.settings, is_local);
        // It will be busy: nobody opens a connection for nothing.
        let share = Share { busy: self.totals.busy + 1, ..self.share() };
        let changes = connection.open(&self.settings, &share);
        self.totals.promised += connection.promised();
        if let Some(former) = self.connections.insert(key, connection) {
            self.totals.promised -= former.promised();
        }
        changes
    }

    /// It is gone.
    pub fn on_close(&mut self, now: Duration, key: K) -> Option<Connection> {
        let connection = self.connections.remove(&key)?;
        self.totals.replace(Totals::of(&connection, now), Totals::default());
        Some(connection)
    }

    /// A sample of a connection: what to tell its socket. Of an unknown connection: nothing.
    pub fn on_sample(&mut self, key: K, sample: Sample) -> Vec<Change> {
        let (now, share, room) = (sample.at, self.share(), self.room());
        let Some(connection) = self.connections.get_mut(&key) else { return Vec::new() };
        let before = Totals::of(connection, now);
        let changes = connection.on_sample(sample, &self.settings, &share, &room);
        self.totals.replace(before, Totals::of(connection, now));
        changes
    }

    /// A look at the memory, about once a second: what to tell which sockets.
    pub fn on_memory(&mut self, now: Duration, used: &MemoryUse) -> Vec<(K, Change)> {
        let level = self.valve.on_memory(now, self.settings.budget, &self.settings.memory, used);
        self.used = *used;
        // More may be promised than there is if the budget was cut.
        let is_too_much = self.totals.promised > self.settings.budget.for_receiving();
        let victims = if level >= Pressure::TakeBack || is_too_much { self.victims(now) } else { Vec::new() };
        let told = victims.into_iter().flat_map(|key| {
            let changes = self.connections.get_mut(&key).map(Connection::take_back).unwrap_or_default();
            changes.into_iter().map(move |change| (key, change))
        });
        let told = told.collect();
        self.count(now);
        told
    }

    /// Counts again: whoever fell silent is not busy any more, though no sample said so.
    fn count(&mut self, now: Duration) {
        self.totals = Totals::default();
        for connection in self.connections.values() {
            self.totals.replace(Totals::default(), Totals::of(connection, now));
        }
    }

    /// Counts the promises again, after changes that no sample brought.
    pub(super) fn recount_promises(&mut self) {
        self.totals.promised = self.connections.values().map(Connection::promised).sum();
    }

    /// Those that use the least part of what they were promised.
    fn victims(&self, now: Duration) -> Vec<K> {
        let promised = self.connections.iter().filter(|(_, connection)| connection.promised() > 0);
        let mut by_slack: Vec<(f64, K)> =
            promised.map(|(key, connection)| (connection.slack(now), *key)).collect();
        by_slack.sort_by(|a, b| b.0.total_cmp(&a.0));
        let count = VICTIMS.max(by_slack.len() / 4);
        by_slack.into_iter().take(count).map(|(_, key)| key).collect()
    }

    /// How short memory is.
    pub fn pressure(&self) -> Pressure {
        self.valve.level()
    }

    /// A connection.
    pub fn get(&self, key: K) -> Option<&Connection> {
        self.connections.get(&key)
    }

    /// All of them.
    pub fn connections(&self) -> impl Iterator<Item = (&K, &Connection)> {
        self.connections.iter()
    }

    /// Bytes promised to all peers.
    pub fn promised(&self) -> u64 {
        self.totals.promised
    }

    /// Connections that moved something of late.
    pub fn busy(&self) -> u64 {
        self.totals.busy
    }

    /// What was used when the memory was last looked at.
    pub fn used(&self) -> &MemoryUse {
        &self.used
    }

    pub(super) fn share(&self) -> Share {
        Share { budget: self.settings.budget, busy: self.totals.busy, pressure: self.valve.level() }
    }

    fn room(&self) -> Room {
        let left = self.settings.budget.for_receiving().saturating_sub(self.totals.promised);
        Room { left, pressure: self.valve.level() }
    }
}
