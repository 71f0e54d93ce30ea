//! Bytes that look random and follow from a seed: any part of them can be made again anywhere, without a file.

use std::io::{self, Write};

use howdah_random::Random;

/// Written at a time.
const BLOCK: usize = 1 << 20;

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
