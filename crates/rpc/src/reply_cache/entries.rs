//! The entries: calls that run, calls that are answered, and room for more.

use std::time::Instant;

use super::call::Call;
use super::queue::{Linked, Links};

/// The capacity that a free entry keeps for the next reply, in bytes: most replies fit, so that the cache stops
/// allocating once it is full.
const CAPACITY_KEPT: usize = 320;

/// One call.
#[derive(Debug)]
pub(super) struct Entry {
    /// Which call; `None`: the entry is free.
    pub(super) call: Option<Call>,
    /// Counts the calls that were here, so that a slot of an earlier one is known for what it is.
    pub(super) generation: u32,
    /// When it was answered; `None`: it still runs.
    pub(super) answered: Option<Instant>,
    /// What was answered.
    pub(super) reply: Vec<u8>,
    links: [Links; 2],
}

/// All entries.
#[derive(Debug, Default)]
pub(super) struct Entries {
    all: Vec<Entry>,
    free: Vec<u32>,
}

impl Linked for Entry {
    fn links(&mut self, which: usize) -> &mut Links {
        &mut self.links[which]
    }
}

impl Entries {
    /// How many calls there are.
    pub(super) fn len(&self) -> usize {
        self.all.len() - self.free.len()
    }

    /// The entries, for the queues through them.
    pub(super) fn as_mut_slice(&mut self) -> &mut [Entry] {
        &mut self.all
    }

    /// The entry at an index that is in use.
    pub(super) fn get(&self, at: u32) -> &Entry {
        &self.all[at as usize]
    }

    /// The same, to change.
    pub(super) fn get_mut(&mut self, at: u32) -> &mut Entry {
        &mut self.all[at as usize]
    }

    /// Takes a free entry for a call that starts.
    pub(super) fn take(&mut self, call: Call) -> u32 {
        let at = self.free.pop().unwrap_or_else(|| {
            let (reply, links) = (Vec::new(), Default::default());
            self.all.push(Entry { call: None, generation: 0, answered: None, reply, links });
            u32::try_from(self.all.len() - 1).expect("entries are bounded far below")
        });
        let entry = self.get_mut(at);
        entry.call = Some(call);
        entry.answered = None;
        at
    }

    /// Gives an entry back.
    pub(super) fn release(&mut self, at: u32) {
        let entry = self.get_mut(at);
        entry.call = None;
        entry.generation = entry.generation.wrapping_add(1);
        entry.reply.clear();
        entry.reply.shrink_to(CAPACITY_KEPT);
        self.free.push(at);
    }
}
