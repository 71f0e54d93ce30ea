//! The slots of a session: a lock for each, and memory only for those that were used.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::SessionSlot;
use crate::error::StateError;

/// Slots that come into being together: clients use low numbers first (RFC 8881 2.10.6.1).
const BLOCK: usize = 16;

type Block = Box<[Mutex<SessionSlot>; BLOCK]>;

/// Bytes of such slots.
const BLOCK_BYTES: usize = size_of::<[Mutex<SessionSlot>; BLOCK]>() + 16;

/// The slots of a session (RFC 8881 2.10.6.1), numbered from 0.
#[derive(Debug)]
pub struct SessionSlots {
    blocks: Box<[OnceLock<Block>]>,
    /// How many there are.
    count: u32,
    /// How many the client may use, as it knows.
    granted: AtomicU32,
    /// How many it should use: lower than granted until it has taken notice.
    target: AtomicU32,
    /// How many the client uses, as it said last.
    used: AtomicU32,
}

impl SessionSlots {
    /// So many slots, at least one.
    pub fn new(count: u32) -> Self {
        let count = count.max(1);
        let blocks = (0..(count as usize).div_ceil(BLOCK)).map(|_| OnceLock::new()).collect();
        Self {
            blocks,
            count,
            granted: AtomicU32::new(count),
            target: AtomicU32::new(count),
            used: AtomicU32::new(0),
        }
    }

    /// The slot of this number, locked. `hold` is asked whether memory for more slots may be had, and given its bytes if so; the first
    /// slots have theirs with the session.
    ///
    /// # Errors
    ///
    /// [`StateError::BadSlot`] if there is none, [`StateError::Delay`] if there is no memory for it.
    pub fn lock(
        &self,
        number: u32,
        hold: impl FnOnce(usize) -> bool,
    ) -> Result<MutexGuard<'_, SessionSlot>, StateError> {
        if number >= self.granted() {
            return Err(StateError::BadSlot);
        }
        let place = number as usize / BLOCK;
        if place > 0 && self.blocks[place].get().is_none() && !hold(BLOCK_BYTES) {
            return Err(StateError::Delay);
        }
        Ok(self.at(number as usize))
    }

    /// A slot that is there, also one that was taken back while a call ran in it.
    pub fn at(&self, number: usize) -> MutexGuard<'_, SessionSlot> {
        let block =
            self.blocks[number / BLOCK].get_or_init(|| Box::new(std::array::from_fn(|_| Mutex::default())));
        // A slot is whole after every statement on it, so that a panic elsewhere leaves nothing half done.
        block[number % BLOCK].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many slots the client may use.
    pub fn granted(&self) -> u32 {
        self.granted.load(Ordering::Relaxed)
    }

    /// How many slots the client should use (`sr_target_highest_slotid` + 1).
    pub fn target(&self) -> u32 {
        self.target.load(Ordering::Relaxed)
    }

    /// Asks the client to use so many slots, of those that the session was made with. More are granted at once, fewer once the client
    /// has taken notice.
    pub fn set_target(&self, count: u32) {
        let count = count.clamp(1, self.count);
        self.target.store(count, Ordering::Relaxed);
        self.granted.fetch_max(count, Ordering::Relaxed);
    }

    /// How many slots the client uses, as it said last.
    pub fn used(&self) -> u32 {
        self.used.load(Ordering::Relaxed)
    }

    /// The client says which slot is the highest that it uses: a lower target that it respects takes effect.
    pub fn acknowledge(&self, highest: u32) {
        let used = highest.saturating_add(1);
        // All who run calls of the session read what stands beside it: it is written only when it changes.
        if self.used() != used {
            self.used.store(used, Ordering::Relaxed);
        }
        let target = self.target();
        if highest < target && target < self.granted() {
            self.granted.store(target, Ordering::Relaxed);
        }
    }

    /// Bytes of memory of all slots that the session is made with.
    pub fn base_bytes(&self) -> usize {
        self.blocks.len() * size_of::<OnceLock<Block>>() + BLOCK_BYTES
    }

    /// Bytes of replies that are kept.
    pub fn kept(&self) -> usize {
        let blocks = self.blocks.iter().filter_map(OnceLock::get);
        let slots = blocks.flat_map(|block| block.iter());
        slots.map(|slot| slot.lock().unwrap_or_else(PoisonError::into_inner).kept()).sum()
    }
}
