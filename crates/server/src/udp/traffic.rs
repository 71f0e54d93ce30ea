//! What UDP sockets have carried: counted with every datagram, without a lock, and given as plain data.

use std::net::SocketAddr;
use std::ops::AddAssign;
use std::sync::atomic::{AtomicU64, Ordering};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the sockets of one address have carried on one interface since the server started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UdpTraffic {
    /// The address that they are bound to.
    pub address: SocketAddr,
    /// Their interface; `None`: they take what no interface's sockets take.
    pub interface: Option<String>,
    /// Sockets that are open now.
    pub sockets: usize,
    /// What was received.
    pub received: Carried,
    /// What was answered.
    pub sent: Carried,
    /// Datagrams that came when there was no room left for them: the kernel threw them away.
    pub dropped: u64,
    /// Replies that the kernel refused, because there was no room or no route.
    pub unsent: u64,
}

/// Datagrams, and the bytes of their payload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Carried {
    /// How many.
    pub datagrams: u64,
    /// Bytes in them.
    pub bytes: u64,
}

/// The counters of one socket. By themselves in their cache lines: those of other sockets change with every datagram, too.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct UdpCounters {
    received: Counter,
    sent: Counter,
    unsent: AtomicU64,
}

#[derive(Debug, Default)]
struct Counter {
    datagrams: AtomicU64,
    bytes: AtomicU64,
}

/// What they say at a moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub received: Carried,
    pub sent: Carried,
    pub dropped: u64,
    pub unsent: u64,
}

impl UdpCounters {
    /// A datagram was received.
    pub fn on_received(&self, bytes: usize) {
        self.received.add(bytes);
    }

    /// One was sent.
    pub fn on_sent(&self, bytes: usize) {
        self.sent.add(bytes);
    }

    /// One could not be sent.
    pub fn on_unsent(&self) {
        self.unsent.fetch_add(1, Ordering::Relaxed);
    }

    /// What they say, with what the kernel counts.
    pub fn read(&self, dropped: u64) -> Counts {
        let unsent = self.unsent.load(Ordering::Relaxed);
        Counts { received: self.received.read(), sent: self.sent.read(), dropped, unsent }
    }
}

impl Counter {
    fn add(&self, bytes: usize) {
        self.datagrams.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn read(&self) -> Carried {
        Carried {
            datagrams: self.datagrams.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.received += other.received;
        self.sent += other.sent;
        self.dropped += other.dropped;
        self.unsent += other.unsent;
    }
}

impl AddAssign for Carried {
    fn add_assign(&mut self, other: Self) {
        self.datagrams += other.datagrams;
        self.bytes += other.bytes;
    }
}
