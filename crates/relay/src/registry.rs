//! All connections, and how many there may be.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::limits::CONNECTIONS_OF_ONE_CLIENT_MAX;
use crate::pair::Pair;

/// All connections that are carried, and those that are about to be.
#[derive(Debug)]
pub struct Registry {
    most: usize,
    next: AtomicU64,
    pairs: Mutex<HashMap<u64, Arc<Pair>>>,
    places: Mutex<Places>,
    /// Sums of those that ended.
    pub totals: Totals,
}

#[derive(Debug, Default)]
struct Places {
    taken: usize,
    of: HashMap<IpAddr, usize>,
}

/// What is counted of all connections since the relay started.
#[derive(Debug, Default)]
pub struct Totals {
    /// Connections that were accepted and had a place.
    pub accepted: AtomicU64,
    /// Those that had none.
    pub refused: AtomicU64,
    /// Those for which no far connection could be made.
    pub failed: AtomicU64,
    /// Bytes to the far server of connections that ended.
    pub out: AtomicU64,
    /// Bytes to clients of connections that ended.
    pub back: AtomicU64,
}

/// A place for a connection, given back when this is dropped.
#[derive(Debug)]
pub struct Admitted {
    registry: Arc<Registry>,
    client: IpAddr,
}

impl Registry {
    /// For at most so many connections.
    pub fn new(most: usize) -> Self {
        Self {
            most,
            next: AtomicU64::new(0),
            pairs: Mutex::default(),
            places: Mutex::default(),
            totals: Totals::default(),
        }
    }

    /// A place for a connection of that client, if there is one.
    pub fn admit(self: &Arc<Self>, client: IpAddr) -> Option<Admitted> {
        let mut places = self.places.lock();
        let its = places.of.get(&client).copied().unwrap_or(0);
        if places.taken >= self.most || its >= CONNECTIONS_OF_ONE_CLIENT_MAX {
            self.totals.refused.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        places.taken += 1;
        places.of.insert(client, its + 1);
        self.totals.accepted.fetch_add(1, Ordering::Relaxed);
        Some(Admitted { registry: Arc::clone(self), client })
    }

    /// How many there may be.
    pub fn most(&self) -> usize {
        self.most
    }

    /// How many places are taken.
    #[cfg(test)]
    pub fn taken(&self) -> usize {
        self.places.lock().taken
    }

    /// A number for a new pair.
    pub fn next_number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// A pair is carried from now on.
    pub fn add(&self, pair: &Arc<Pair>) {
        self.pairs.lock().insert(pair.number, Arc::clone(pair));
    }

    /// A pair has ended.
    pub fn end(&self, number: u64) {
        let Some(pair) = self.pairs.lock().remove(&number) else { return };
        self.totals.out.fetch_add(pair.out.bytes(), Ordering::Relaxed);
        self.totals.back.fetch_add(pair.back.bytes(), Ordering::Relaxed);
    }

    /// All that are carried now, in the order in which they came.
    pub fn pairs(&self) -> Vec<Arc<Pair>> {
        let mut pairs: Vec<_> = self.pairs.lock().values().cloned().collect();
        pairs.sort_unstable_by_key(|pair| pair.number);
        pairs
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let mut places = self.registry.places.lock();
        places.taken -= 1;
        if let Some(its) = places.of.get_mut(&self.client) {
            *its -= 1;
            if *its == 0 {
                places.of.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_client_has_its_part_and_all_have_no_more_than_there_may_be() {
        let registry = Arc::new(Registry::new(CONNECTIONS_OF_ONE_CLIENT_MAX + 2));
        let client = |number| IpAddr::from([10, 0, 0, number]);
        let mut places: Vec<_> = (0..CONNECTIONS_OF_ONE_CLIENT_MAX)
            .map(|_| registry.admit(client(1)).expect("there is place"))
            .collect();
        assert!(registry.admit(client(1)).is_none(), "one client has its part");
        let others = [2, 3].map(|number| registry.admit(client(number)).expect("there is place"));
        assert!(registry.admit(client(4)).is_none(), "all places are taken");
        places.pop();
        assert!(registry.admit(client(1)).is_some(), "one was given back");
        assert_eq!(registry.totals.refused.load(Ordering::Relaxed), 2);
        drop((places, others));
        assert_eq!(registry.taken(), 0);
        assert!(registry.places.lock().of.is_empty());
    }
}
