//! Makes the data, and knows it again.

use super::header::{HEADER, Identity, SECTOR};
use super::mismatch::{FoundBytes, Mismatch};

/// Steps between the states behind two words of a sector (wyhash's constants: odd, with well spread bits).
const STEP: u64 = 0xa076_1d64_78bd_642f;
const FOLD: u64 = 0xe703_7ed1_a0b4_28db;

/// Makes data from a seed, at several gigabytes a second.
#[derive(Debug, Clone, Copy)]
pub struct Generator {
    seed: u64,
}

/// What data belongs to: a file, and which writing of it this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The file's number.
    pub file: u64,
    /// Which writing: 1 the first.
    pub generation: u32,
}

impl Generator {
    /// The generator of this seed.
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// Fills `buffer` with the bytes that belong at `offset`.
    pub fn fill(&self, stamp: Stamp, mut offset: u64, mut buffer: &mut [u8]) {
        while !buffer.is_empty() {
            let sector = self.identity(stamp, offset);
            let start = (offset % SECTOR as u64) as usize;
            let length = buffer.len().min(SECTOR - start);
            let (now, rest) = buffer.split_at_mut(length);
            match <&mut [u8; SECTOR]>::try_from(&mut *now) {
                Ok(whole) => self.fill_sector(sector, whole),
                Err(_) => now.copy_from_slice(&self.sector(sector)[start..start + length]),
            }
            offset += length as u64;
            buffer = rest;
        }
    }

    /// Whether `data`, read at `offset`, is what was written there; else what is wrong with its first bad sector.
    pub fn check(&self, stamp: Stamp, mut offset: u64, mut data: &[u8]) -> Result<(), Mismatch> {
        while !data.is_empty() {
            let expected = self.identity(stamp, offset);
            let start = (offset % SECTOR as u64) as usize;
            let length = data.len().min(SECTOR - start);
            let (now, rest) = data.split_at(length);
            let sector = self.sector(expected);
            if now != &sector[start..start + length] {
                return Err(self.explain(expected, offset, now, &sector[start..start + length]));
            }
            offset += length as u64;
            data = rest;
        }
        Ok(())
    }

    fn identity(&self, stamp: Stamp, offset: u64) -> Identity {
        Identity { file: stamp.file, sector: offset / SECTOR as u64, generation: stamp.generation }
    }

    fn explain(&self, expected: Identity, offset: u64, data: &[u8], good: &[u8]) -> Mismatch {
        let differs = data.iter().zip(good).take_while(|(left, right)| left == right).count();
        let found = match data.first_chunk::<HEADER>().map(words) {
            Some(header) => Identity::unsealed(self.seed, header),
            None => None,
        };
        let found = match found {
            Some(identity) if identity != expected => FoundBytes::Other(identity),
            _ if data.iter().all(|&byte| byte == 0) => FoundBytes::Zeroes,
            _ => FoundBytes::Damage,
        };
        Mismatch { expected, offset: offset + differs as u64, found }
    }

    fn sector(&self, identity: Identity) -> [u8; SECTOR] {
        let mut sector = [0; SECTOR];
        self.fill_sector(identity, &mut sector);
        sector
    }

    fn fill_sector(&self, identity: Identity, sector: &mut [u8; SECTOR]) {
        let (header, body) = sector.split_at_mut(HEADER);
        for (place, word) in header.chunks_exact_mut(8).zip(identity.sealed(self.seed)) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        let mut state = identity.key(self.seed);
        for place in body.chunks_exact_mut(8) {
            state = state.wrapping_add(STEP);
            let product = u128::from(state) * u128::from(state ^ FOLD);
            place.copy_from_slice(&((product >> 64) as u64 ^ product as u64).to_le_bytes());
        }
    }
}

fn words(header: &[u8; HEADER]) -> [u64; 4] {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(header.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: u64 = 0x5eed;
    const STAMP: Stamp = Stamp { file: 3, generation: 2 };

    fn made(stamp: Stamp, offset: u64, length: usize) -> Vec<u8> {
        let mut buffer = vec![0; length];
        Generator::new(SEED).fill(stamp, offset, &mut buffer);
        buffer
    }

    fn refused(offset: u64, data: &[u8]) -> Mismatch {
        Generator::new(SEED).check(STAMP, offset, data).expect_err("it is wrong")
    }

    #[test]
    fn pieces_are_parts_of_the_whole() {
        let whole = made(STAMP, 0, 5000);
        for (start, end) in [(0, 1), (511, 513), (100, 2000), (512, 1024), (4999, 5000)] {
            assert_eq!(made(STAMP, start as u64, end - start), &whole[start..end]);
            Generator::new(SEED).check(STAMP, start as u64, &whole[start..end]).expect("its own");
        }
    }

    #[test]
    fn says_what_was_found_instead() {
        let other = |file, sector, generation| FoundBytes::Other(Identity { file, sector, generation });
        assert_eq!(refused(1024, &made(STAMP, 512, 512)).found, other(3, 1, 2), "misplaced");
        let next_file = Stamp { file: 4, ..STAMP };
        assert_eq!(refused(1024, &made(next_file, 1024, 700)).found, other(4, 2, 2), "of another file");
        let before = Stamp { generation: 1, ..STAMP };
        assert_eq!(refused(1024, &made(before, 1024, 512)).found, other(3, 2, 1), "of the pass before");
        assert_eq!(refused(7, &[0; 100]).found, FoundBytes::Zeroes);
        let mut flipped = made(STAMP, 0, 4096);
        flipped[3000] ^= 1;
        let found = refused(0, &flipped);
        assert_eq!((found.found, found.offset), (FoundBytes::Damage, 3000));
    }

    #[test]
    fn nothing_repeats_and_every_byte_is_as_likely() {
        let data = made(STAMP, 0, 1 << 20);
        let mut words: Vec<&[u8]> = data.chunks_exact(8).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), data.len() / 8, "no word twice in a megabyte");
        // No byte value, at any place of a sector, may stand out: a compressor would live on it. A value that stood
        // at a fixed place would be seen 2048 times there; chance gives 8, and 64 about never.
        for place in 0..SECTOR {
            let mut seen = [0u32; 256];
            data.iter().skip(place).step_by(SECTOR).for_each(|&byte| seen[usize::from(byte)] += 1);
            assert!(seen.iter().all(|&count| count < 64), "byte {place} of the sectors");
        }
    }
}
