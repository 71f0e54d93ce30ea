//! Numbers that look random and follow from a seed, so that a run can be repeated.

/// A sequence of numbers (splitmix64).
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

/// One step of splitmix64: every bit of the input reaches every bit of the output.
pub(crate) fn mix(value: u64) -> u64 {
    let mixed = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        let number = mix(self.0);
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        number
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }
}
