//! Handles that were made before, so that a listing or a lookup need not ask the kernel for each again.
//!
//! A handle is found by file number, device and time of birth. File numbers are used again, so this is only safe
//! where two nodes of one number cannot have one time of birth: the number is freed and taken again later than the
//! first birth by more than the file system's clock is coarse. So nodes younger than [`SETTLED`] are neither kept
//! nor found here, and file systems whose clock is not this machine's are left out by the caller.

use howdah_vfs::{Handle, Timestamp};
use parking_lot::Mutex;
use rustix::time::{ClockId, clock_gettime};

/// Twice the coarsest tick by which Linux stamps files (10 ms at 100 Hz).
const SETTLED_NANOSECONDS: i128 = 20_000_000;

/// Entries that share a lock and are allocated together. Numbers in a row share a page.
const PAGE: usize = 64;

/// What distinguishes one node from all others, now and earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identification {
    pub(super) file: u64,
    pub(super) device: u64,
    /// When it was made, where the file system keeps that.
    pub(super) birth: Option<Timestamp>,
}

#[derive(Clone, Copy)]
struct Slot {
    identification: Identification,
    handle: Handle,
    /// A digest of the place (directory and name) where it was last seen, for those who keep places.
    place: u64,
}

type Page = Mutex<Option<Box<[Option<Slot>; PAGE]>>>;

/// The handles made before.
pub(super) struct KnownHandles {
    pages: Box<[Page]>,
}

/// The time, coarse and cheap. Taken before a node is looked at, it is never later than the look.
pub(super) fn now() -> Timestamp {
    let now = clock_gettime(ClockId::RealtimeCoarse);
    Timestamp { seconds: now.tv_sec, nanoseconds: u32::try_from(now.tv_nsec).unwrap_or(0) }
}

impl KnownHandles {
    /// Room for about `most` handles; none at all if 0.
    pub(super) fn new(most: usize) -> Self {
        Self { pages: (0..most.div_ceil(PAGE)).map(|_| Mutex::new(None)).collect() }
    }

    /// The handle of the node that was seen at `now` or later, and the digest of its place.
    pub(super) fn find(&self, seen: &Identification, now: Timestamp) -> Option<(Handle, u64)> {
        if !is_settled(seen, now) {
            return None;
        }
        let page = self.page(seen.file, seen.device)?.lock();
        let slot = page.as_ref()?[seen.file as usize % PAGE].as_ref()?;
        (slot.identification == *seen).then_some((slot.handle, slot.place))
    }

    /// Remembers the handle of the node that was seen at `now` or later.
    pub(super) fn keep(&self, seen: &Identification, now: Timestamp, (handle, place): (Handle, u64)) {
        if !is_settled(seen, now) {
            return;
        }
        let Some(page) = self.page(seen.file, seen.device) else { return };
        let mut page = page.lock();
        let slots = page.get_or_insert_with(|| Box::new([None; PAGE]));
        slots[seen.file as usize % PAGE] = Some(Slot { identification: *seen, handle, place });
    }

    /// Forgets the handle of a node that is gone.
    pub(super) fn forget(&self, file: u64, device: u64) {
        let Some(page) = self.page(file, device) else { return };
        let mut page = page.lock();
        if let Some(slots) = page.as_mut() {
            slots[file as usize % PAGE] = None;
            if slots.iter().all(Option::is_none) {
                *page = None;
            }
        }
    }

    fn page(&self, file: u64, device: u64) -> Option<&Page> {
        if self.pages.is_empty() {
            return None;
        }
        let row = (file / PAGE as u64) ^ device.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.pages.get(row as usize % self.pages.len())
    }
}

/// Whether a time lies so far in the past that nothing is stamped with it any more.
pub(super) fn is_past(time: Timestamp) -> bool {
    nanoseconds(now()) - nanoseconds(time) >= SETTLED_NANOSECONDS
}

fn is_settled(seen: &Identification, now: Timestamp) -> bool {
    seen.birth.is_some_and(|birth| nanoseconds(now) - nanoseconds(birth) >= SETTLED_NANOSECONDS)
}

/// Since 1970.
pub(super) fn nanoseconds(time: Timestamp) -> i128 {
    i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handle(byte: u8) -> Handle {
        Handle::new(&[byte; 18]).expect("short enough")
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp { seconds, nanoseconds: 0 }
    }

    #[test]
    fn only_settled_nodes_are_remembered_and_only_as_themselves() {
        let handles = KnownHandles::new(1000);
        let seen = Identification { file: 42, device: 1, birth: Some(at(100)) };
        let known = (handle(1), 7);
        handles.keep(&seen, at(100), known);
        assert!(handles.find(&seen, at(101)).is_none(), "too young when kept");
        handles.keep(&seen, at(101), known);
        assert_eq!(handles.find(&seen, at(101)).map(|known| known.0), Some(handle(1)));
        assert!(handles.find(&seen, at(100)).is_none(), "too young when asked");
        assert!(handles.find(&Identification { birth: Some(at(101)), ..seen }, at(200)).is_none());
        assert!(handles.find(&Identification { birth: None, ..seen }, at(200)).is_none());
        handles.forget(42, 1);
        assert!(handles.find(&seen, at(101)).is_none());
        assert!(handles.pages.iter().all(|page| page.lock().is_none()), "the last of a page takes it along");
    }

    #[test]
    fn while_a_clock_that_jumped_back_catches_up_nothing_is_answered_from_memory() {
        let handles = KnownHandles::new(1000);
        let seen = Identification { file: 42, device: 1, birth: Some(at(100)) };
        let known = |byte| (handle(byte), 7);
        handles.keep(&seen, at(3700), known(1));
        // An hour back. The number may be taken again now, by a node with another time of birth.
        assert!(handles.find(&seen, at(99)).is_none());
        let again = Identification { birth: Some(at(99)), ..seen };
        handles.keep(&again, at(99), known(2));
        assert!(handles.find(&again, at(99)).is_none(), "the clock may be set once more to when it was born");
        assert!(
            handles.find(&again, at(200)).is_none(),
            "it is another node than the one that is remembered"
        );
        handles.keep(&again, at(200), known(2));
        assert_eq!(handles.find(&again, at(200)).map(|known| known.0), Some(handle(2)));
        assert!(handles.find(&seen, at(3700)).is_none());
    }

    #[test]
    fn no_more_are_remembered_than_there_is_room_for() {
        let (most, now) = (2 * PAGE as u64, at(200));
        let handles = KnownHandles::new(most as usize);
        let seen = |file| Identification { file, device: 1, birth: Some(at(100)) };
        for file in 0..=most {
            handles.keep(&seen(file), now, (handle(file as u8), file));
        }
        let found = (0..=most).filter(|&file| handles.find(&seen(file), now).is_some()).count() as u64;
        assert_eq!(found, most, "one past the room takes another's place");
        assert!(handles.find(&seen(most), now).is_some());
    }
}
