//! Replies of a connection that caps hold: counted, so that no further call is read beyond a bound.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use crate::Reply;
use crate::caps::MatchedRules;
use crate::limits::{HELD_MEMORY_BUDGET, HELD_MEMORY_MAX, HELD_REPLIES_MAX};

/// Memory that held replies of all connections take.
static MEMORY: AtomicUsize = AtomicUsize::new(0);

/// What caps hold of a connection.
#[derive(Debug, Default)]
pub struct HeldCount {
    replies: AtomicUsize,
    memory: AtomicUsize,
    /// The rule that held one last, counted from 1.
    rule: AtomicU32,
    matched: MatchedRules,
}

impl HeldCount {
    /// Which rules are for its client.
    pub fn matched(&self) -> &MatchedRules {
        &self.matched
    }

    /// A rule holds a reply.
    pub fn set_rule(&self, rule: u32) {
        self.rule.store(rule + 1, Ordering::Relaxed);
    }

    /// The place of the rule that held a reply last.
    pub fn rule(&self) -> Option<u32> {
        self.rule.load(Ordering::Relaxed).checked_sub(1)
    }

    /// One more waits.
    pub fn add(&self, reply: &Reply) {
        self.replies.fetch_add(1, Ordering::SeqCst);
        self.memory.fetch_add(reply.memory(), Ordering::SeqCst);
        MEMORY.fetch_add(reply.memory(), Ordering::Relaxed);
    }

    /// One waits no longer.
    pub fn remove(&self, reply: &Reply) {
        self.replies.fetch_sub(1, Ordering::SeqCst);
        self.memory.fetch_sub(reply.memory(), Ordering::SeqCst);
        MEMORY.fetch_sub(reply.memory(), Ordering::Relaxed);
    }

    /// How many wait.
    pub fn count(&self) -> usize {
        self.replies.load(Ordering::SeqCst)
    }

    /// Whether so many wait that no further call should be read.
    pub fn is_full(&self) -> bool {
        let count = self.count();
        count > 0 && is_too_much(count, self.memory.load(Ordering::SeqCst), MEMORY.load(Ordering::Relaxed))
    }
}

/// Whether a connection that has replies waiting has too many, or too much memory, or all have.
fn is_too_much(count: usize, memory: usize, of_all: usize) -> bool {
    count >= HELD_REPLIES_MAX || memory >= HELD_MEMORY_MAX || of_all >= HELD_MEMORY_BUDGET
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_call_is_read_past_any_bound() {
        let held = HeldCount::default();
        let small = Reply::with_buffer(Vec::new());
        (1..HELD_REPLIES_MAX).for_each(|_| held.add(&small));
        assert!(!held.is_full());
        held.add(&small);
        assert!(held.is_full());
        let held = HeldCount::default();
        let mut large = Reply::with_buffer(Vec::new());
        large.bytes_mut().resize(HELD_MEMORY_MAX, 0);
        held.add(&large);
        assert!(held.is_full());
        held.remove(&large);
        assert!(!held.is_full());
        assert!(!is_too_much(1, 1, HELD_MEMORY_BUDGET - 1) && is_too_much(1, 1, HELD_MEMORY_BUDGET));
    }
}
