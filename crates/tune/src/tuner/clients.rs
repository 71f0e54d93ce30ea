//! Clients: all connections of one address, which count as one for whatever is shared, and the sums over them.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use super::totals::Totals;
use crate::account::Account;
use crate::meter::Meter;

/// The client of connections that were opened without naming one.
pub const UNKNOWN: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
/// So many clients are remembered that have no connection any more; those seen last.
pub const REMEMBERED: usize = 1024;

/// A client.
#[derive(Debug, Default)]
pub struct Client {
    totals: Totals,
    opened: u64,
    closed: Meter,
    seen: Duration,
    used: Used,
}

/// The addresses that a client connected from.
#[derive(Debug, Default, Clone, Copy)]
enum Used {
    #[default]
    Unknown,
    One(IpAddr),
    Several,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Clients {
    known: BTreeMap<IpAddr, Client>,
    /// Sums of those that are not remembered any more.
    forgotten: Account,
    /// With a connection that moves something.
    busy: u64,
}

impl Client {
    /// What its connections have now.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Connections that it ever opened, as far as it is remembered.
    pub fn opened(&self) -> u64 {
        self.opened
    }

    /// When it last opened or closed one.
    pub fn seen(&self) -> Duration {
        self.seen
    }

    /// The address that all its connections came from; none if they came from several.
    pub fn address(&self) -> Option<IpAddr> {
        if let Used::One(address) = self.used { Some(address) } else { None }
    }

    /// Sums over its connections that are gone.
    pub fn closed(&self) -> &Meter {
        &self.closed
    }
}

impl Clients {
    /// It opened a connection.
    pub fn on_open(&mut self, now: Duration, address: IpAddr) {
        let client = self.known.entry(address).or_default();
        client.opened += 1;
        client.seen = now;
    }

    /// It connected from this address.
    pub fn on_address(&mut self, client: IpAddr, address: IpAddr) {
        let Some(client) = self.known.get_mut(&client) else { return };
        client.used = match client.used {
            Used::Unknown => Used::One(address),
            Used::One(known) if known == address => Used::One(address),
            _ => Used::Several,
        };
    }

    /// A connection of it is gone, with these sums.
    pub fn on_close(&mut self, now: Duration, address: IpAddr, sums: &Meter) {
        if let Some(client) = self.known.get_mut(&address) {
            client.closed.merge(now, sums);
            client.seen = now;
        }
        self.forget();
    }

    /// What a connection of it has changed.
    pub fn replace(&mut self, address: IpAddr, before: &Totals, after: &Totals) {
        let Some(client) = self.known.get_mut(&address) else { return };
        let was_busy = client.totals.busy > 0;
        client.totals.replace(before, after);
        self.busy = self.busy + u64::from(client.totals.busy > 0) - u64::from(was_busy);
    }

    /// Counting starts again.
    pub fn reset_totals(&mut self) {
        self.known.values_mut().for_each(|client| client.totals = Totals::default());
        self.busy = 0;
    }

    /// How many move something.
    pub fn busy(&self) -> u64 {
        self.busy
    }

    /// Sums over all connections that are gone, of clients that are forgotten, too.
    pub fn gone(&self) -> Account {
        let mut sum = self.forgotten.clone();
        self.known.values().for_each(|client| sum.merge(client.closed.total()));
        sum
    }

    pub fn get(&self, address: IpAddr) -> Option<&Client> {
        self.known.get(&address)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&IpAddr, &Client)> {
        self.known.iter()
    }

    /// Of those without connections, the one that was seen longest ago is forgotten if there are too many.
    fn forget(&mut self) {
        let gone = || self.known.iter().filter(|(_, client)| client.totals.connections == 0);
        if self.known.len() <= REMEMBERED || gone().count() <= REMEMBERED {
            return;
        }
        if let Some(address) = gone().min_by_key(|(_, client)| client.seen).map(|(address, _)| *address) {
            let gone = self.known.remove(&address).unwrap_or_default();
            self.forgotten.merge(gone.closed.total());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_without_connections_are_forgotten_oldest_first() {
        let mut clients = Clients::default();
        let address = |number: u32| IpAddr::from(number.to_be_bytes());
        let connected = Totals { connections: 1, ..Totals::default() };
        for number in 0..REMEMBERED as u32 + 10 {
            let now = Duration::from_secs(number.into());
            clients.on_open(now, address(number));
            clients.replace(address(number), &Totals::default(), &connected);
            // The first one keeps its connection.
            if number > 0 {
                clients.replace(address(number), &connected, &Totals::default());
                let mut meter = Meter::default();
                meter.at(now).events.grown = 1;
                clients.on_close(now, address(number), &meter);
            }
        }
        assert_eq!(clients.iter().count(), REMEMBERED + 1);
        assert!(clients.get(address(0)).is_some() && clients.get(address(1)).is_none());
        assert!(clients.get(address(REMEMBERED as u32 + 9)).is_some());
        assert_eq!(
            clients.gone().events.grown,
            u64::from(REMEMBERED as u32 + 9),
            "their sums are not forgotten"
        );
    }
}
