//! Blocks that were fetched, and those on their way. A block counts while its file is as it was when the block was read.

use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;
use howdah_vfs::{Attributes, Caller, Handle};

/// A file, and which of its blocks.
pub type Key = (Handle, u64);

/// The most files of which it is remembered when they were looked at.
const FILES_MAX: usize = 4096;

/// A block that is here.
#[derive(Clone)]
pub struct Block {
    /// Its bytes; fewer than a block only at the end of the file.
    pub bytes: Bytes,
    /// Whether they reach the end of the file.
    pub end: bool,
    /// The file's attributes when it was read.
    pub attributes: Attributes,
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
    /// Differs from the number of another of the same key, fetched after the file changed.
    number: u64,
    /// When it was wanted last, and how many of its bytes were given.
    used: Duration,
    given: usize,
}

/// All blocks.
#[derive(Default)]
pub struct Blocks {
    entries: HashMap<Key, Entry>,
    number: u64,
    /// What each file was like in the server's last answer.
    seen: HashMap<Handle, Seen>,
}

/// A file in an answer of the server.
struct Seen {
    attributes: Attributes,
    /// When the server was asked, and when its answer came.
    asked: Duration,
    answered: Duration,
}

impl Block {
    /// Whether it was read from the file as it is here.
    pub fn is_of(&self, now: &Attributes) -> bool {
        same(&self.attributes, now)
    }
}

impl Blocks {
    /// How many there are, those on their way included.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// A block as this caller may see it.
    pub fn get(&mut self, caller: &Caller, key: &Key, now: Duration) -> Option<&State> {
        let entry = self.entries.get_mut(key).filter(|entry| entry.caller == *caller)?;
        entry.used = now;
        Some(&entry.state)
    }

    /// A block is to be fetched: gives the number under which it comes, or `None` if it was already.
    pub fn expect(&mut self, caller: &Caller, key: Key, now: Duration) -> Option<u64> {
        if self.entries.contains_key(&key) {
            return None;
        }
        self.number += 1;
        let (number, used) = (self.number, now);
        self.entries
            .insert(key, Entry { caller: caller.clone(), state: State::Coming, number, used, given: 0 });
        Some(number)
    }

    /// A fetch is over; without a block, waiting readers ask the server themselves. A block without readers is dropped. Says whether
    /// it was waited for.
    pub fn arrive(&mut self, key: &Key, number: u64, block: Option<Block>) -> bool {
        let Some(entry) = self.entries.get_mut(key).filter(|entry| entry.number == number) else {
            return false;
        };
        match block {
            Some(block) => entry.state = State::Here(block),
            None => {
                self.entries.remove(key);
            }
        }
        true
    }

    /// Bytes of a block were given to its reader.
    pub fn gave(&mut self, key: &Key, count: usize) {
        if let Some(entry) = self.entries.get_mut(key) {
            entry.given += count;
        }
    }

    /// A block is of no use.
    pub fn remove(&mut self, key: &Key) {
        self.entries.remove(key);
    }

    /// Makes room for one block by dropping the one that was wanted least lately of those that were read to the end, or of
    /// those that nobody has wanted for so long. Says whether there was one.
    pub fn make_room(&mut self, now: Duration, idle: Duration) -> bool {
        let is_free = |entry: &Entry| match &entry.state {
            State::Here(block) => entry.given >= block.bytes.len() || now.saturating_sub(entry.used) > idle,
            State::Coming => false,
        };
        let free = self.entries.iter().filter(|(_, entry)| is_free(entry));
        let Some(key) = free.min_by_key(|(_, entry)| entry.used).map(|(key, _)| *key) else { return false };
        self.entries.remove(&key).is_some()
    }

    /// A file changed: nothing that was fetched of it counts.
    pub fn forget(&mut self, node: &Handle) {
        self.entries.retain(|(of, _), _| of != node);
        self.seen.remove(node);
    }

    /// The server was asked at one time and answered at another what a file is like: what was fetched of it when it was another
    /// is dropped. Of what is on its way nobody knows yet. Of answers that overlapped, the server's time of change shows which
    /// is newer.
    pub fn validate(&mut self, node: &Handle, now: &Attributes, (asked, answered): (Duration, Duration)) {
        if let Some(seen) = self.seen.get_mut(node) {
            let crossed = seen.answered >= asked;
            let is_newer = seen.attributes.version() > now.version();
            if crossed && is_newer {
                return;
            }
            if same(&seen.attributes, now) {
                *seen = Seen { asked: seen.asked.max(asked), answered: seen.answered.max(answered), ..*seen };
                return;
            }
            if crossed && seen.attributes.version() == now.version() {
                // Nobody knows which.
                self.seen.remove(node);
                self.drop_blocks(node, |_| false);
                return;
            }
        }
        self.drop_blocks(node, |block| block.is_of(now));
        if self.seen.len() >= FILES_MAX {
            self.seen.clear();
        }
        self.seen.insert(*node, Seen { attributes: *now, asked, answered });
    }

    /// Drops the blocks of a file that are here, except these.
    fn drop_blocks(&mut self, node: &Handle, keep: impl Fn(&Block) -> bool) {
        self.entries.retain(|(of, _), entry| match &entry.state {
            State::Here(block) => of != node || keep(block),
            State::Coming => true,
        });
    }

    /// How large a file is, as was seen last.
    pub fn size(&self, node: &Handle) -> Option<u64> {
        self.seen.get(node).map(|seen| seen.attributes.size)
    }

    /// Whether a block is of the file as it was seen to be less than `age` ago; `None`: it was not looked at for so long.
    pub fn is_current(&self, node: &Handle, block: &Block, time: Duration, age: Duration) -> Option<bool> {
        let seen = self.seen.get(node)?;
        (time.saturating_sub(seen.asked) < age).then(|| block.is_of(&seen.attributes))
    }
}

fn same(one: &Attributes, other: &Attributes) -> bool {
    (one.change, one.size, one.modified) == (other.change, other.size, other.modified)
}

#[cfg(test)]
mod tests {
    use howdah_vfs::FileSystem;
    use howdah_vfs::memory::MemoryFileSystem;

    use super::*;

    #[test]
    fn of_answers_that_overlapped_the_newer_one_counts() {
        let fs = MemoryFileSystem::new();
        let node = fs.root();
        let older = fs.attributes(&Caller::ROOT, &node).expect("attributes");
        let mut changed = older.changed;
        changed.seconds += 1;
        let newer = Attributes { size: older.size + 1, ..older.with_changed(changed) };
        let within_a_tick = Attributes { size: older.size + 2, ..older };
        let [first, second, third, later] = [1, 2, 3, 4].map(Duration::from_secs);
        let overlapping = [(second, third), (first, third)];
        for (answers, size) in [
            ([older, newer], Some(newer.size)),
            ([newer, older], Some(newer.size)),
            ([older, older], Some(older.size)),
            ([older, within_a_tick], None),
        ] {
            let mut blocks = Blocks::default();
            for (answer, times) in answers.iter().zip(overlapping) {
                blocks.validate(&node, answer, times);
            }
            assert_eq!(blocks.size(&node), size);
            blocks.validate(&node, &within_a_tick, (later, later));
            assert_eq!(blocks.size(&node), Some(within_a_tick.size), "what was asked later is believed");
        }
    }
}
