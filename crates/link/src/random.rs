//! Chance that repeats itself: the same seed, the same numbers.

/// A generator of random numbers (SplitMix64), quick and good enough for losing packets; not for secrets.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    /// One whose numbers follow from `seed`.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Any 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// At least 0, less than 1.
    pub fn fraction(&mut self) -> f64 {
        // A double holds 53 bits.
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A whole number less than `bound`; `None` if there is none.
    pub fn below(&mut self, bound: u64) -> Option<u64> {
        // The upper half of the product is evenly spread but for 2^-64 * bound.
        (bound > 0).then(|| ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64)
    }

    /// True once in `1 / probability` times.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.fraction() < probability
    }
}
