//! Bytes that look random and follow from a seed: any part of them can be made again anywhere, without a file.

use std::io::{self, Write};

/// Written at a time.
const BLOCK: usize = 1 << 20;

/// The SplitMix64 sequence: small, well mixed, and any element is computed from its index.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next word of it.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A value below `end`, which is at least one; the bias is far below what a test could notice.
    pub fn below(&mut self, end: u64) -> u64 {
        self.word() % end.max(1)
    }

    /// Fills a buffer.
    pub fn fill(&mut self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(8) {
            let word = self.word().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
    }
}

/// Writes `bytes` bytes of the seed's sequence.
pub fn write(seed: u64, bytes: u64, out: &mut impl Write) -> io::Result<()> {
    let mut random = Random::new(seed);
    let mut block = vec![0; BLOCK];
    let mut left = bytes;
    while left > 0 {
        let length = usize::try_from(left).unwrap_or(BLOCK).min(BLOCK);
        random.fill(&mut block[..length]);
        out.write_all(&block[..length])?;
        left -= length as u64;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_seed_gives_the_same_bytes_again_and_another_seed_others() {
        let make = |seed| {
            let mut bytes = Vec::new();
            super::write(seed, 3_000_001, &mut bytes).expect("a vector takes everything");
            bytes
        };
        assert_eq!(make(1).len(), 3_000_001);
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
    }
}
