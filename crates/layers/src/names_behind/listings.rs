//! Whole listings that programs may read on.

use std::collections::{HashSet, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;

use howdah_vfs::{Attributes, Detail, Entry, Handle, Listing, Node};
use parking_lot::Mutex;

/// Bit of our cookies, and of many a server's: directories of ext4 are ordered by hashes of 63 bits.
const OURS: u64 = 1 << 62;
/// Below it: a tag of this layer, by which its cookies differ from a server's, the number of the listing, and the place in it.
const TAG_BITS: u32 = 22;
const NUMBER_BITS: u32 = 12;
const PLACE_BITS: u32 = 28;
/// The most listings that are kept to be read on. An older one is listed once more, from its start.
const LISTINGS_MAX: usize = 256;

/// Listings that programs may read on.
pub struct PendingListings {
    /// What all cookies of this layer begin with.
    tagged: u64,
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
    /// None yet. `random` makes the cookies of this layer differ from all others.
    pub fn new(random: u64) -> Self {
        let tag = random & ((1 << TAG_BITS) - 1);
        Self { tagged: OURS | tag << (NUMBER_BITS + PLACE_BITS), kept: Mutex::default() }
    }

    /// The cookie of a place in a listing.
    fn cookie(&self, number: u64, place: usize) -> u64 {
        self.tagged | number << PLACE_BITS | place as u64
    }

    /// The number of the listing and the place in it, if a cookie is ours.
    pub fn place(&self, cookie: u64) -> Option<(u64, usize)> {
        let below = NUMBER_BITS + PLACE_BITS;
        let number = cookie >> PLACE_BITS & ((1 << NUMBER_BITS) - 1);
        let place = cookie & ((1 << PLACE_BITS) - 1);
        (cookie >> below == self.tagged >> below).then_some((number, place as usize))
    }

    /// Keeps one to be read on; gives its number.
    pub fn keep(&self, whole: Whole) -> (u64, Arc<Whole>) {
        let kept = &mut *self.kept.lock();
        kept.last = (kept.last + 1) & ((1 << NUMBER_BITS) - 1);
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

    /// Gives what follows a place.
    pub fn give(
        &self,
        (number, whole): (u64, &Whole),
        place: usize,
        detail: Detail,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Listing {
        for (index, entry) in whole.entries.iter().enumerate().skip(place) {
            let cookie = self.cookie(number, index + 1);
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
}
