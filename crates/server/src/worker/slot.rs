//! What the watch sees of a worker. Both ends change and read it without a lock.

use howdah_net::Token;

use std::sync::atomic::AtomicU32;

use crate::sync::atomic::{AtomicU64, Ordering};

/// What the watch sees of a worker. By itself in its cache lines: each worker changes its own with every call.
#[derive(Default)]
#[repr(align(128))]
pub struct WorkerSlot {
    /// Odd while something runs that was expected to be quick.
    turns: AtomicU64,
    /// The connection, or the socket of datagrams, that it is done for.
    token: AtomicU64,
    /// The kernel's number of the worker's thread; 0 before it runs.
    thread: AtomicU32,
}

impl WorkerSlot {
    /// Something starts that is expected to be quick.
    pub fn start(&self, token: Token) {
        self.token.store(token.0, Ordering::Relaxed);
        self.turn();
    }

    /// It is done.
    pub fn end(&self) {
        self.turn();
    }

    /// A load and a store: only its worker changes it, and an addition that others could make, too, takes as long as ten.
    fn turn(&self) {
        self.turns.store(self.turns.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    }

    /// It runs on this thread.
    pub fn run_on(&self, thread: u32) {
        self.thread.store(thread, std::sync::atomic::Ordering::Relaxed);
    }

    /// Whether its thread waits for something. One that has no processor does not; nor is that known of one that is gone.
    pub fn is_asleep(&self) -> bool {
        let thread = self.thread.load(std::sync::atomic::Ordering::Relaxed);
        let Ok(stat) = std::fs::read_to_string(format!("/proc/self/task/{thread}/stat")) else { return true };
        !stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('R'))
    }

    /// How much has started and ended: odd while something runs.
    pub fn turns(&self) -> u64 {
        self.turns.load(Ordering::Acquire)
    }

    /// That for which something runs, or ran last.
    pub fn token(&self) -> Token {
        Token(self.token.load(Ordering::Relaxed))
    }
}
