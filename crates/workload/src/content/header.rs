//! The identity at the start of every sector, hidden under a mask so that it compresses no better than the rest.

use howdah_random::mix;

/// Bytes that carry one identity: a disk's sector, the smallest thing that storage misplaces.
pub const SECTOR: usize = 512;

/// Bytes of a header.
pub(super) const HEADER: usize = 32;

/// Stands in every header: with the 64 bits of the mask's key, chance does not make a header.
const MAGIC: u64 = 0x686f_7764;

/// Where a sector belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// The file's number.
    pub file: u64,
    /// The sector's number in the file.
    pub sector: u64,
    /// Which writing of that place it is: 1 the first.
    pub generation: u32,
}

impl Identity {
    /// The words of the header under this seed.
    pub(super) fn sealed(&self, seed: u64) -> [u64; 4] {
        let third = MAGIC << 32 | u64::from(self.generation);
        let key = self.key(seed);
        [self.file ^ mix(key), self.sector ^ mix(key ^ 1), third ^ mix(key ^ 2), key]
    }

    /// What a header under this seed says, if these are one.
    pub(super) fn unsealed(seed: u64, words: [u64; 4]) -> Option<Self> {
        let key = words[3];
        let third = words[2] ^ mix(key ^ 2);
        let found =
            Self { file: words[0] ^ mix(key), sector: words[1] ^ mix(key ^ 1), generation: third as u32 };
        (third >> 32 == MAGIC && found.key(seed) == key).then_some(found)
    }

    /// What the sector's content follows from.
    pub(super) fn key(&self, seed: u64) -> u64 {
        mix(mix(mix(seed ^ self.file).wrapping_add(self.sector)) ^ u64::from(self.generation))
    }
}
