//! Numbers that look random and follow from a seed (SplitMix64), so that what they decide can be decided again.

/// The generator of numbers.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Starts at a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// One that depends on this seed and on a number, for the threads of a campaign.
    pub fn apart(seed: u64, number: u64) -> Self {
        Self(Self(seed ^ number.wrapping_mul(0xd134_2543_de82_ef95)).number())
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.number() % bound.max(1)
    }

    /// The same as a length or an index.
    pub fn up_to(&mut self, bound: usize) -> usize {
        self.below(bound as u64) as usize
    }

    /// Once in so many times.
    pub fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// Bytes that no other call gives again.
    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        let words = (0..length.div_ceil(8)).flat_map(|_| self.number().to_le_bytes());
        words.take(length).collect()
    }

    /// Fewer than `bound` of them.
    pub fn bytes_up_to(&mut self, bound: usize) -> Vec<u8> {
        let length = self.up_to(bound);
        self.bytes(length)
    }
}
