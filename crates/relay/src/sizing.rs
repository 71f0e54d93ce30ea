//! Looks at both connections of each pair and has them sized, each to its own path; closes those that are half closed and silent.

use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use howdah_net::is_on_this_host;
use howdah_tune::budget::MemoryUse;
use howdah_tune::{Gauges, Settings, SizeChange, Tuner};
use parking_lot::Mutex;

use crate::driven::RelaySide;
use crate::limits::HALF_CLOSED_PATIENCE;
use crate::pair::RelayedPair;
use crate::registry::Registry;

/// How often it is looked for connections that move something.
pub const TICK: Duration = Duration::from_millis(50);
/// How often memory is looked at.
const MEMORY_TICK: Duration = Duration::from_secs(1);
/// The most that a far server is offered from the start, in bytes: some READs of 1 MiB and what is on its way meanwhile.
const FIRST_WINDOW_MAX: u64 = 16 << 20;

/// Sizes connections.
#[derive(Debug)]
pub struct RelaySizing {
    started: Instant,
    tuner: Mutex<Tuner<Key>>,
}

/// One connection of a pair.
type Key = (u64, u8);

/// What the thread that looks remembers from one look to the next.
#[derive(Default)]
pub struct Remembered {
    seen: HashMap<u64, Seen>,
    memory_at: Duration,
}

#[derive(Clone, Copy)]
struct Seen {
    carried: u64,
    /// When something was last carried.
    moved: Duration,
    /// When to look at each again.
    due: [Duration; 2],
    held: [MemoryUse; 2],
}

impl RelaySizing {
    /// By what this host lets connections have.
    ///
    /// # Errors
    /// No socket can be made.
    pub fn new() -> std::io::Result<Self> {
        let settings = Settings::automatic(howdah_net::probe_host()?, howdah_net::memory_limits());
        Ok(Self { started: Instant::now(), tuner: Mutex::new(Tuner::new(settings)) })
    }

    /// A new pair: both connections get what they begin with.
    pub fn on_open(&self, pair: &RelayedPair) {
        let now = self.started.elapsed();
        for side in [RelaySide::Near, RelaySide::Far] {
            let (_, peer) = end(pair, side);
            let changes = self.tuner.lock().on_open_from(now, key(pair, side), peer, is_on_this_host(peer));
            apply(pair, side, &changes);
        }
    }

    /// The window to offer a far server from the start, where it may be forced.
    pub fn first_window(&self) -> Option<u64> {
        let tuner = self.tuner.lock();
        let host = &tuner.settings().host;
        host.may_force.then(|| FIRST_WINDOW_MAX.min(tuner.settings().budget.for_receiving() / 2))
    }

    /// How connections are sized here, and what would lift it.
    pub fn explain(&self) -> String {
        self.tuner.lock().settings().host.explain()
    }

    /// Looks at all pairs once.
    pub fn turn(&self, registry: &Registry, memory: &mut Remembered) {
        let now = self.started.elapsed();
        let pairs = registry.pairs();
        for pair in &pairs {
            let seen = memory.seen.entry(pair.number).or_insert_with(|| Seen::new(now));
            self.visit(now, pair, seen);
        }
        let is_there = |number: &u64| pairs.binary_search_by_key(number, |pair| pair.number).is_ok();
        let mut tuner = self.tuner.lock();
        memory.seen.retain(|number, _| {
            let stays = is_there(number);
            if !stays {
                for side in [RelaySide::Near, RelaySide::Far] {
                    tuner.on_close(now, (*number, side as u8));
                }
            }
            stays
        });
        drop(tuner);
        if now.saturating_sub(memory.memory_at) >= MEMORY_TICK {
            memory.memory_at = now;
            self.look_at_memory(now, &pairs, memory);
        }
    }

    fn visit(&self, now: Duration, pair: &Arc<RelayedPair>, seen: &mut Seen) {
        let carried = pair.carried();
        if carried != seen.carried {
            (seen.carried, seen.moved) = (carried, now);
        }
        if is_forgotten(pair.is_half_closed(), now.saturating_sub(seen.moved)) {
            tracing::debug!(client = %pair.near.peer().ends.client, "half closed, and nothing is carried");
            pair.cut();
        }
        for side in [RelaySide::Near, RelaySide::Far] {
            let index = side as usize;
            let is_active = seen.moved == now || seen.held[index] != MemoryUse::default();
            if is_active && now >= seen.due[index] {
                self.look(now, pair, side, seen);
            }
        }
    }

    fn look(&self, now: Duration, pair: &RelayedPair, side: RelaySide, seen: &mut Seen) {
        let index = side as usize;
        let sample = match howdah_net::sample(end(pair, side).0, now, &Gauges::default()) {
            Ok(sample) => sample,
            Err(error) => return tracing::debug!(%error, "looking at a connection"),
        };
        seen.held[index] = MemoryUse {
            sending: sample.sending.queued,
            unread: sample.receiving.queued,
            ..MemoryUse::default()
        };
        pair.seen.lock()[index] = Some(sample.clone());
        let mut tuner = self.tuner.lock();
        let changes = tuner.on_sample(key(pair, side), sample);
        if let Some(tuned) = tuner.get(key(pair, side)) {
            seen.due[index] = now + tuned.interval();
        }
        drop(tuner);
        apply(pair, side, &changes);
    }

    fn look_at_memory(&self, now: Duration, pairs: &[Arc<RelayedPair>], memory: &Remembered) {
        let mut used = MemoryUse { host_tcp: howdah_net::memory_of_tcp(), ..MemoryUse::default() };
        for held in memory.seen.values().flat_map(|seen| seen.held) {
            used.sending += held.sending;
            used.unread += held.unread;
        }
        let mut tuner = self.tuner.lock();
        let (orders, stuck) = (tuner.on_memory(now, &used), tuner.stuck());
        drop(tuner);
        let pair = |number: u64| pairs.iter().find(|pair| pair.number == number);
        for ((number, side), change) in orders {
            let side = if side == RelaySide::Near as u8 { RelaySide::Near } else { RelaySide::Far };
            pair(number).into_iter().for_each(|pair| apply(pair, side, &[change]));
        }
        for pair in stuck.iter().filter_map(|(number, _)| pair(*number)) {
            tracing::warn!(client = %pair.near.peer().ends.client, "closed: memory is short, and one side reads almost nothing");
            pair.cut();
        }
    }
}

impl Seen {
    fn new(now: Duration) -> Self {
        Self { carried: 0, moved: now, due: [Duration::ZERO; 2], held: Default::default() }
    }
}

/// Whether a pair is of no use to anybody any more.
fn is_forgotten(is_half_closed: bool, silence: Duration) -> bool {
    is_half_closed && silence >= HALF_CLOSED_PATIENCE
}

fn key(pair: &RelayedPair, side: RelaySide) -> Key {
    (pair.number, side as u8)
}

/// One of the connections, and the address of its peer.
fn end(pair: &RelayedPair, side: RelaySide) -> (BorrowedFd<'_>, std::net::IpAddr) {
    match side {
        RelaySide::Near => (pair.near.as_fd(), pair.near.peer().ends.client.ip()),
        RelaySide::Far => (pair.far.as_fd(), pair.far.peer().ip()),
    }
}

fn apply(pair: &RelayedPair, side: RelaySide, changes: &[SizeChange]) {
    for &change in changes {
        let (socket, peer) = end(pair, side);
        tracing::debug!(%peer, ?side, ?change, "sizing");
        if let Err(error) = howdah_net::apply(socket, change) {
            tracing::debug!(%peer, ?side, ?change, %error, "sizing");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_half_closed_and_silent_goes() {
        let nearly = HALF_CLOSED_PATIENCE - Duration::from_nanos(1);
        assert!(is_forgotten(true, HALF_CLOSED_PATIENCE) && !is_forgotten(true, nearly));
        assert!(!is_forgotten(false, HALF_CLOSED_PATIENCE * 100), "a mount that rests");
    }
}
