//! What a connection has done, and what it knows of its path.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use quinn_proto::ConnectionStats;

/// A connection as it is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConnectionFacts {
    /// Smoothed round trip.
    pub round_trip: Duration,
    /// The shortest round trip.
    pub least_round_trip: Duration,
    /// Bytes that may be in flight.
    pub congestion_window: u64,
    /// Bytes that are in flight.
    pub flight: u64,
    /// The longest packet that the path carries, without headers of IP and UDP, in bytes.
    pub packet_size: u64,
    /// Packets sent.
    pub packets_sent: u64,
    /// Packets that were lost, as far as acknowledgements show.
    pub packets_lost: u64,
    /// Bytes in them.
    pub bytes_lost: u64,
    /// Packets received.
    pub packets_received: u64,
    /// Times that long packets suddenly got lost.
    pub black_holes: u64,
    /// Times that the peer came from another address.
    pub moves: u64,
}

/// What the congestion control counts for others to see.
#[derive(Debug, Default)]
pub struct FlightCount(AtomicU64);

impl FlightCount {
    /// Bytes in flight.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// More are.
    pub fn add(&self, bytes: u64) {
        self.0.store(self.get() + bytes, Ordering::Relaxed);
    }

    /// So many are.
    pub fn set(&self, bytes: u64) {
        self.0.store(bytes, Ordering::Relaxed);
    }
}

impl ConnectionFacts {
    pub(crate) fn of(stats: &ConnectionStats, flight: &Arc<FlightCount>, moves: usize) -> Self {
        Self {
            round_trip: stats.path.rtt,
            least_round_trip: stats.path.min_rtt,
            congestion_window: stats.path.cwnd,
            flight: flight.get(),
            packet_size: u64::from(stats.path.current_mtu),
            packets_sent: stats.path.sent_packets,
            packets_lost: stats.path.lost_packets,
            bytes_lost: stats.path.lost_bytes,
            packets_received: stats.udp_rx.datagrams,
            black_holes: stats.path.black_holes_detected,
            moves: moves as u64,
        }
    }
}
