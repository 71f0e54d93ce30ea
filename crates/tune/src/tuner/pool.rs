//! The connections, and the memory that they share. The owner of the sockets reports them and their samples, and applies the
//! changes that come back.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use super::clients::{Client, Clients, UNKNOWN};
use super::totals::Totals;
use super::{Connection, Own, Settings};
use crate::account::Account;
use crate::budget::{MemoryUse, Pressure, Valve};
use crate::meter::Meter;
use crate::sizes::{Share, SizeChange, WindowRoom, first_window};
use crate::{Sample, Setting};

/// Sizes all connections. `K` is whatever the owner names them by.
#[derive(Debug)]
pub struct Tuner<K> {
    pub(super) settings: Settings,
    pub(super) connections: BTreeMap<K, Connection>,
    pub(super) clients: Clients,
    pub(super) valve: Valve,
    pub(super) totals: Totals,
    pub(super) used: MemoryUse,
    /// The congestion control was set: a connection that is reported only now may have begun with an earlier one.
    pub(super) is_congestion_set: bool,
    /// When windows were last taken back.
    pub(super) taken_back: Option<Duration>,
    /// The latest moment that a caller passed.
    pub(super) now: Duration,
}

impl<K: Ord + Copy> Tuner<K> {
    /// Without connections.
    pub fn new(settings: Settings) -> Self {
        Self {
            is_congestion_set: settings.congestion != Setting::Auto,
            settings,
            connections: BTreeMap::new(),
            clients: Clients::default(),
            valve: Valve::default(),
            totals: Totals::default(),
            used: MemoryUse::default(),
            taken_back: None,
            now: Duration::ZERO,
        }
    }

    /// A connection was opened, to a peer on this host or not: what to set on its socket.
    pub fn on_open(&mut self, key: K, is_local: bool) -> Vec<SizeChange> {
        self.on_open_from(Duration::ZERO, key, UNKNOWN, is_local)
    }

    /// The same, of a known client. All connections of a client count as one for what is shared.
    pub fn on_open_from(&mut self, now: Duration, key: K, client: IpAddr, is_local: bool) -> Vec<SizeChange> {
        self.on_open_with(now, key, client, is_local, Own::default())
    }

    /// The same, with what holds for this connection alone.
    pub fn on_open_with(
        &mut self,
        now: Duration,
        key: K,
        client: IpAddr,
        is_local: bool,
        own: Own,
    ) -> Vec<SizeChange> {
        self.on_close(now, key);
        let mut connection = Connection::new(now, &self.settings, client, is_local, own);
        self.clients.on_open(now, client);
        // It will be busy: nobody opens a connection for nothing.
        let counted = connection.count(Totals { connections: 1, busy: 1, ..Totals::default() });
        self.replace(client, counted);
        let mut changes = connection.open(&self.settings, &self.share(client));
        let of_all = self.is_congestion_set.then_some(self.settings.congestion);
        changes.extend(own.congestion.or(of_all).map(SizeChange::Congestion));
        let counted = connection.count(connection.totals(now));
        self.replace(client, counted);
        self.connections.insert(key, connection);
        changes
    }

    /// A client, whose connections may come from several addresses, connected from this one.
    pub fn on_address(&mut self, client: IpAddr, address: IpAddr) {
        self.clients.on_address(client, address);
    }

    /// A connection ended and had moved this much by then: the last samples may have missed some of it.
    pub fn on_end(&mut self, key: K, last: &Sample) {
        if let Some(connection) = self.connections.get_mut(&key) {
            connection.on_end(last);
        }
    }

    /// A new connection has a receive buffer of that size from its listener, and may hold so much unsent (0: as much as its
    /// buffer): what to set on its socket.
    pub fn on_inherited(&mut self, key: K, buffer: u64, unsent_mark: u64) -> Vec<SizeChange> {
        let Some(client) = self.connections.get(&key).map(Connection::client) else { return Vec::new() };
        let room = self.room(client);
        let Some(connection) = self.connections.get_mut(&key) else { return Vec::new() };
        let changes = connection.inherit((buffer, unsent_mark), &self.settings, &room);
        let counted = connection.count(connection.totals(self.now));
        self.replace(client, counted);
        changes
    }

    /// The window that a listener should offer the next one that connects; `None`: the kernel's.
    pub fn first_window(&self) -> Option<u64> {
        let left = self.settings.budget.for_receiving().saturating_sub(self.totals.promised);
        let room = WindowRoom { left, pressure: self.valve.level() };
        first_window(&self.settings.host, self.settings.receive_buffer, &room)
    }

    /// It is gone.
    pub fn on_close(&mut self, now: Duration, key: K) -> Option<Connection> {
        let mut connection = self.connections.remove(&key)?;
        let client = connection.client();
        self.replace(client, connection.count(Totals::default()));
        self.clients.on_close(now, client, connection.meter());
        Some(connection)
    }

    /// A sample of a connection: what to set on its socket. Of an unknown connection: nothing.
    pub fn on_sample(&mut self, key: K, sample: Sample) -> Vec<SizeChange> {
        let now = sample.at;
        self.now = now;
        let Some(client) = self.connections.get(&key).map(Connection::client) else { return Vec::new() };
        let (share, room) = (self.share(client), self.room(client));
        let Some(connection) = self.connections.get_mut(&key) else { return Vec::new() };
        let changes = connection.on_sample(sample, &self.settings, &share, &room);
        let counted = connection.count(connection.totals(now));
        self.replace(client, counted);
        changes
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

    /// All clients that are remembered.
    pub fn clients(&self) -> impl Iterator<Item = (&IpAddr, &Client)> {
        self.clients.iter()
    }

    /// The sums over all connections of each client, those that are gone included.
    pub fn ledger(&self, now: Duration) -> BTreeMap<IpAddr, Meter> {
        let mut ledger: BTreeMap<IpAddr, Meter> =
            self.clients.iter().map(|(address, client)| (*address, client.closed().clone())).collect();
        for connection in self.connections.values() {
            ledger.entry(connection.client()).or_default().merge(now, connection.meter());
        }
        ledger
    }

    /// The sums over all connections that there ever were: they only grow.
    pub fn account(&self) -> Account {
        let mut sum = self.clients.gone();
        self.connections.values().for_each(|connection| sum.merge(connection.account()));
        sum
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

    /// A connection is counted anew: what was counted of it, and not what it would be by now, goes out of the sums.
    fn replace(&mut self, client: IpAddr, (before, after): (Totals, Totals)) {
        self.totals.replace(&before, &after);
        self.clients.replace(client, &before, &after);
    }

    /// Counts again, after changes that no sample brought: a client that fell silent is not busy any more.
    pub(super) fn count(&mut self) {
        self.totals = Totals::default();
        self.clients.reset_totals();
        for connection in self.connections.values_mut() {
            let (_, one) = connection.count(connection.totals(self.now));
            self.totals.replace(&Totals::default(), &one);
            self.clients.replace(connection.client(), &Totals::default(), &one);
        }
    }

    /// What a connection of a client is sized by: first the clients share, then the connections of each.
    pub(super) fn share(&self, client: IpAddr) -> Share {
        let of_client = self.clients.get(client).map_or(0, |client| client.totals().busy);
        Share {
            budget: self.settings.budget,
            parts: self.clients.busy().max(1) * of_client.max(1),
            connections: self.totals.connections,
            stalled: self.totals.stalled,
            pressure: self.valve.level(),
        }
    }

    /// What may still be promised to a client: no more than its part of all, unless nobody else wants it.
    fn room(&self, client: IpAddr) -> WindowRoom {
        let all = self.settings.budget.for_receiving();
        let promised = self.clients.get(client).map_or(0, |client| client.totals().promised);
        let part = all / self.clients.busy().max(1);
        let left = all.saturating_sub(self.totals.promised).min(part.saturating_sub(promised));
        WindowRoom { left, pressure: self.valve.level() }
    }
}
