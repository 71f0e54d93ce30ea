//! Bytes of memory that clients and hosts hold, in all and by network. Bounds on each kind of state leave room for their product; this
//! bounds their sum.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

/// What one of each takes, in bytes, without names. Measured by `server/tests/crowd.rs`, and rounded up. In that of an open, of locks
/// and of a delegation are some 256 for what others see of it.
pub const CLIENT: usize = 2_048;
/// A session without slots beyond the first.
pub const SESSION: usize = 2_560;
/// An open, with its file.
pub const OPEN: usize = 1_280;
/// The lock state of an owner.
pub const LOCK: usize = 640;
/// A byte range that is locked, with its file.
pub const RANGE: usize = 384;
/// A lock that is waited for.
pub const WAITER: usize = 384;
/// A share of NLM.
pub const SHARE: usize = 384;
/// A delegation.
pub const DELEGATION: usize = 768;
/// A host of NLM.
pub const HOST: usize = 1_024;

/// After how long memory is counted before something is refused.
const COUNT_AFTER: Duration = Duration::from_millis(100);

/// How many bytes may be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryBounds {
    /// By all.
    pub all: usize,
    /// By the clients and hosts of one network: an IPv4 address, or 64 bits of an IPv6 one.
    pub of_network: usize,
}

/// Bytes that are held. What is granted is added at once; what is let go is seen at the next count.
#[derive(Debug)]
pub struct HeldMemory {
    bounds: MemoryBounds,
    all: usize,
    by_network: HashMap<IpAddr, usize>,
    counted: Duration,
    /// When no client was found that could make way for another network.
    hopeless: Option<Duration>,
}

impl HeldMemory {
    /// Nothing is held; all that is will be added now.
    pub fn new(now: Duration, bounds: MemoryBounds) -> Self {
        Self { bounds, all: 0, by_network: HashMap::new(), counted: now, hopeless: None }
    }

    /// The same, to count again.
    pub fn recount(&self, now: Duration) -> Self {
        Self::new(now, self.bounds)
    }

    /// Those that can make way have: whether that was enough.
    pub fn looked(&mut self, now: Duration, network: IpAddr, bytes: usize) {
        let is_full = !self.fits(network, bytes) && !self.is_full(network, bytes);
        self.hopeless = is_full.then_some(now);
    }

    /// Whether it is so lately that nobody made way that looking for one again is not worth it.
    pub fn is_hopeless(&self, now: Duration) -> bool {
        self.hopeless.is_some_and(|looked| now.saturating_sub(looked) < COUNT_AFTER)
    }

    /// Whether it was counted so lately that counting again is not worth it.
    pub fn is_fresh(&self, now: Duration) -> bool {
        now.saturating_sub(self.counted) < COUNT_AFTER
    }

    /// Some more is held.
    pub fn add(&mut self, network: IpAddr, bytes: usize) {
        self.all += bytes;
        *self.by_network.entry(network).or_default() += bytes;
    }

    /// Some is let go.
    pub fn release(&mut self, network: IpAddr, bytes: usize) {
        self.all = self.all.saturating_sub(bytes);
        if let Some(held) = self.by_network.get_mut(&network) {
            *held = held.saturating_sub(bytes);
        }
    }

    /// Whether a network may hold so much more.
    pub fn fits(&self, network: IpAddr, more: usize) -> bool {
        self.all.saturating_add(more) <= self.bounds.all && !self.is_full(network, more)
    }

    /// Whether a network holds too much by itself.
    pub fn is_full(&self, network: IpAddr, more: usize) -> bool {
        let held = self.by_network.get(&network).copied().unwrap_or(0);
        held.saturating_add(more) > self.bounds.of_network
    }

    /// Bytes that are held by all.
    pub fn all(&self) -> usize {
        self.all
    }
}
