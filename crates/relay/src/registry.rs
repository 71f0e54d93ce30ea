//! All connections, and how many there may be.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::pair::RelayedPair;
use crate::places::{Admitted, ConnectionPlaces};

/// All connections that are carried, and those that are about to be.
#[derive(Debug)]
pub struct Registry {
    places: ConnectionPlaces,
    next: AtomicU64,
    pairs: Mutex<HashMap<u64, Arc<RelayedPair>>>,
    /// Sums of those that ended.
    pub totals: RelayTotals,
}

/// What is counted of all connections since the relay started.
#[derive(Debug, Default)]
pub struct RelayTotals {
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

impl Registry {
    /// For at most so many connections.
    pub fn new(most: usize) -> Self {
        Self {
            places: ConnectionPlaces::new(most),
            next: AtomicU64::new(0),
            pairs: Mutex::default(),
            totals: RelayTotals::default(),
        }
    }

    /// A place for a connection of that client, if there is one.
    pub fn admit(&self, client: IpAddr) -> Option<Admitted> {
        let admitted = self.places.admit(client);
        let counter = if admitted.is_some() { &self.totals.accepted } else { &self.totals.refused };
        counter.fetch_add(1, Ordering::Relaxed);
        admitted
    }

    /// How many connections there may be.
    pub fn most(&self) -> usize {
        self.places.most()
    }

    /// A number for a new pair.
    pub fn next_number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// A pair is carried from now on.
    pub fn add(&self, pair: &Arc<RelayedPair>) {
        self.pairs.lock().insert(pair.number, Arc::clone(pair));
    }

    /// A pair has ended.
    pub fn end(&self, number: u64) {
        let Some(pair) = self.pairs.lock().remove(&number) else { return };
        self.totals.out.fetch_add(pair.out.bytes(), Ordering::Relaxed);
        self.totals.back.fetch_add(pair.back.bytes(), Ordering::Relaxed);
    }

    /// All that are carried now, in the order in which they came.
    pub fn pairs(&self) -> Vec<Arc<RelayedPair>> {
        let mut pairs: Vec<_> = self.pairs.lock().values().cloned().collect();
        pairs.sort_unstable_by_key(|pair| pair.number);
        pairs
    }
}
