//! Blocks that were fetched, and those on their way.

use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;
use howdah_vfs::{Attributes, Caller, Handle};

/// A file, and which of its blocks.
pub type Key = (Handle, u64);

/// A block that is here.
#[derive(Clone)]
pub struct Block {
    /// Its bytes; fewer than a block only at the end of the file.
    pub bytes: Bytes,
    /// Whether they reach the end of the file.
    pub end: bool,
    /// The file's attributes when it was read.
    pub attributes: Attributes,
    /// When it was asked for.
    pub at: Duration,
}

/// What is known of a block.
pub enum State {
    /// It will be here.
    Coming,
    /// It is.
    Here(Block),
}

struct Entry {
    caller: Caller,
    state: State,
    /// Tells this one from another of the same key, fetched after the file changed.
    number: u64,
}

/// All blocks.
#[derive(Default)]
pub struct Blocks {
    entries: HashMap<Key, Entry>,
    number: u64,
}

impl Blocks {
    /// How many there are, those on their way included.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// A block as this caller may see it.
    pub fn get(&self, caller: &Caller, key: &Key) -> Option<&State> {
        self.entries.get(key).filter(|entry| entry.caller == *caller).map(|entry| &entry.state)
    }

    /// A block is to be fetched: gives the number under which it comes, or `None` if it was already.
    pub fn expect(&mut self, caller: &Caller, key: Key) -> Option<u64> {
        if self.entries.contains_key(&key) {
            return None;
        }
        self.number += 1;
        self.entries.insert(key, Entry { caller: caller.clone(), state: State::Coming, number: self.number });
        Some(self.number)
    }

    /// A fetch is over; without a block, whoever wants it asks again. What nobody waits for any more is dropped.
    pub fn arrive(&mut self, key: &Key, number: u64, block: Option<Block>) {
        if self.entries.get(key).is_none_or(|entry| entry.number != number) {
            return;
        }
        match block {
            Some(block) => {
                if let Some(entry) = self.entries.get_mut(key) {
                    entry.state = State::Here(block);
                }
            }
            None => {
                self.entries.remove(key);
            }
        }
    }

    /// A block was used up.
    pub fn remove(&mut self, key: &Key) {
        self.entries.remove(key);
    }

    /// A file changed: nothing that was fetched of it counts.
    pub fn forget(&mut self, node: &Handle) {
        self.entries.retain(|(of, _), _| of != node);
    }

    /// Drops what was fetched of a file when it was another than it is now. Of what is on its way nobody knows yet.
    pub fn validate(&mut self, node: &Handle, now: &Attributes) {
        let same =
            |was: &Attributes| (was.size, was.modified, was.changed) == (now.size, now.modified, now.changed);
        self.entries.retain(|(of, _), entry| match &entry.state {
            State::Here(block) => of != node || same(&block.attributes),
            State::Coming => true,
        });
    }

    /// Drops what came longer ago than `age`: nobody wanted it.
    pub fn drop_aged(&mut self, now: Duration, age: Duration) {
        self.entries.retain(|_, entry| match &entry.state {
            State::Here(block) => now.saturating_sub(block.at) < age,
            State::Coming => true,
        });
    }
}
