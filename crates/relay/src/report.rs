//! What a relay is doing, for screens and monitors.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::far::Far;
use crate::pair::{RelayedPair, Way};
use crate::registry::Registry;

/// A relay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RelayReport {
    /// The far server, as its URL names it.
    pub far: String,
    /// Who it must prove to be, if connections to it are protected by TLS.
    pub tls_name: Option<String>,
    /// How connections are sized, and what would lift it.
    pub sizing: String,
    /// How many connections there may be.
    pub connections_max: usize,
    /// Connections that were accepted since the start.
    pub accepted: u64,
    /// Connections for which there was no place.
    pub refused: u64,
    /// Connections for which the far server could not be reached.
    pub failed: u64,
    /// Bytes to the far server since the start, of connections that are there and that were.
    pub bytes_to_far: u64,
    /// Bytes to clients, in the same way.
    pub bytes_to_near: u64,
    /// Those that are there.
    pub connections: Vec<RelayedConnection>,
}

/// A connection and the far one that belongs to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RelayedConnection {
    /// The client's address and port.
    pub client: SocketAddr,
    /// The address and port of the far server.
    pub server: SocketAddr,
    /// The program of its first call, by its number.
    pub program: Option<u32>,
    /// For how long it is there, in seconds.
    pub age_seconds: f64,
    /// The round trip to the client, in seconds.
    pub near_round_trip_seconds: Option<f64>,
    /// The round trip to the far server, in seconds.
    pub far_round_trip_seconds: Option<f64>,
    /// The far connection is protected by TLS.
    pub tls: bool,
    /// From the client to the far server.
    pub to_far: WayReport,
    /// From the far server to the client.
    pub to_near: WayReport,
}

/// One direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WayReport {
    /// Bytes carried.
    pub bytes: u64,
    /// Time in which the receiver took nothing though something was there, in seconds.
    pub held_up_seconds: f64,
    /// The kernel moves the bytes; else they pass through our memory.
    pub spliced: bool,
}

/// What there is now.
pub fn report(far: &Far, registry: &Registry, sizing: String) -> RelayReport {
    let pairs = registry.pairs();
    let totals = &registry.totals;
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let carried = |way: fn(&RelayedPair) -> &Way| pairs.iter().map(|pair| way(pair).bytes()).sum::<u64>();
    RelayReport {
        far: far.url().to_string(),
        tls_name: far.tls_name(),
        sizing,
        connections_max: registry.most(),
        accepted: count(&totals.accepted),
        refused: count(&totals.refused),
        failed: count(&totals.failed),
        bytes_to_far: count(&totals.out) + carried(|pair| &pair.out),
        bytes_to_near: count(&totals.back) + carried(|pair| &pair.back),
        connections: pairs.iter().map(|pair| of(pair)).collect(),
    }
}

fn of(pair: &RelayedPair) -> RelayedConnection {
    let seen = pair.seen.lock();
    let round_trip = |index: usize| {
        let known = seen[index].as_ref().map(|sample| sample.path.rtt).filter(|rtt| *rtt > Duration::ZERO);
        known.map(|rtt| rtt.as_secs_f64())
    };
    RelayedConnection {
        client: pair.near.peer().ends.client,
        server: pair.far.peer(),
        program: pair.program,
        age_seconds: pair.opened.elapsed().as_secs_f64(),
        near_round_trip_seconds: round_trip(0),
        far_round_trip_seconds: round_trip(1),
        tls: pair.far.is_secure(),
        to_far: way(&pair.out),
        to_near: way(&pair.back),
    }
}

fn way(way: &Way) -> WayReport {
    WayReport { bytes: way.bytes(), held_up_seconds: way.held_up().as_secs_f64(), spliced: way.splices() }
}
