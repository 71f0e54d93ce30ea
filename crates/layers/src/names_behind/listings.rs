//! Whole listings that programs may read on.

use std::collections::{HashSet, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;

use howdah_vfs::{Attributes, Detail, Entry, Handle, Listing, Node};
use parking_lot::Mutex;

/// Cookies from here on are ours: this bit, the number of the listing, the place in it.
pub const OURS: u64 = 1 << 62;
pub const PLACE_BITS: u32 = 32;
/// The most listings that are kept to be read on. An older one is listed once more, from its start.
const LISTINGS_MAX: usize = 256;

/// Listings that programs may read on.
#[derive(Default)]
pub struct PendingListings {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// The number of the last.
    last: u64,
    listings: VecDeque<(u64, Arc<Whole>)>,
}

/// A whole listing.
pub struct Whole {
    pub of: Handle,
    pub directory: Option<Attributes>,
    pub entries: Vec<Listed>,
    /// Names that were removed since.
    pub gone: Mutex<HashSet<Vec<u8>>>,
}

pub struct Listed {
    pub name: Vec<u8>,
    pub file: u64,
    pub node: Option<Node>,
}

impl PendingListings {
    /// Keeps one to be read on; gives its number.
    pub fn keep(&self, whole: Whole) -> (u64, Arc<Whole>) {
        let kept = &mut *self.kept.lock();
        // Thirty bits are what a cookie has for it.
        kept.last = (kept.last + 1) & 0x3fff_ffff;
        let whole = Arc::new(whole);
        kept.listings.push_back((kept.last, Arc::clone(&whole)));
        if kept.listings.len() > LISTINGS_MAX {
            kept.listings.pop_front();
        }
        (kept.last, whole)
    }

    /// A name was removed: programs that read on do not see it.
    pub fn removed(&self, directory: &Handle, name: &[u8]) {
        for (_, whole) in &self.kept.lock().listings {
            if whole.of == *directory {
                whole.gone.lock().insert(name.to_vec());
            }
        }
    }

    /// That of a number, if it is kept.
    pub fn get(&self, number: u64) -> Option<Arc<Whole>> {
        let kept = self.kept.lock();
        kept.listings.iter().find(|(its, _)| *its == number).map(|(_, whole)| Arc::clone(whole))
    }
}

/// Gives what follows a place.
pub fn give(
    number: u64,
    whole: &Whole,
    place: usize,
    detail: Detail,
    sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
) -> Listing {
    for (index, entry) in whole.entries.iter().enumerate().skip(place) {
        let cookie = OURS | number << PLACE_BITS | (index as u64 + 1);
        if whole.gone.lock().contains(&entry.name) {
            continue;
        }
        let node = entry.node.as_ref().filter(|_| detail == Detail::Nodes);
        if sink(Entry { name: &entry.name, file: entry.file, cookie, node }).is_break() {
            return Listing { end: false, directory: whole.directory };
        }
    }
    Listing { end: true, directory: whole.directory }
}
