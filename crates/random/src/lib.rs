//! Numbers that look random and follow from a seed, so that a run can be repeated. Not for secrets.

/// A generator of random numbers: SplitMix64 (Steele, Lea, Flood 2014).
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

/// What the state grows by at each step: 2^64 divided by the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// One step of the generator: every bit of the input reaches every bit of the output.
pub fn mix(number: u64) -> u64 {
    spread(number.wrapping_add(STEP))
}

/// A permutation of all 64-bit numbers that leaves no pattern. Zero stays zero.
pub fn spread(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

impl Random {
    /// A generator whose numbers follow from `seed`.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A generator that depends on a seed and on a number, for the threads of one run.
    pub fn apart(seed: u64, number: u64) -> Self {
        Self::new(mix(seed ^ number.wrapping_mul(0xd134_2543_de82_ef95)))
    }

    /// Any 64 bits.
    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        spread(self.state)
    }

    /// A whole number less than `bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        // The upper half of the product is evenly spread but for 2^-64 * bound.
        ((u128::from(self.number()) * u128::from(bound)) >> 64) as u64
    }

    /// [`Self::below`] for lengths and indexes.
    pub fn index(&mut self, bound: usize) -> usize {
        self.below(bound as u64) as usize
    }

    /// At least 0, less than 1.
    pub fn fraction(&mut self) -> f64 {
        // A double holds 53 bits.
        (self.number() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True once in `1 / probability` times.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.fraction() < probability
    }

    /// True once in so many times.
    pub fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// A length from 1 to `most`, small and large ones alike often.
    pub fn length(&mut self, most: usize) -> usize {
        let bits = self.index(most.max(1).ilog2() as usize + 1);
        (1 + self.index(2 << bits)).min(most)
    }

    /// Fills a buffer.
    pub fn fill(&mut self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(8) {
            let word = self.number().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
    }

    /// So many bytes.
    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.fill(&mut bytes);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_published_algorithm() {
        let mut random = Random::new(1_234_567);
        let numbers = [random.number(), random.number(), random.number()];
        assert_eq!(
            numbers,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
        assert_eq!(mix(1_234_567), numbers[0]);
    }

    #[test]
    fn bounds_hold_and_every_value_below_them_is_reached() {
        let mut random = Random::new(1);
        let mut seen = [false; 7];
        (0..1000).for_each(|_| seen[random.index(7)] = true);
        assert_eq!(seen, [true; 7]);
        assert_eq!((random.below(0), random.below(1)), (0, 0));
        assert!((0..1000).all(|_| (0.0..1.0).contains(&random.fraction())));
    }

    #[test]
    fn a_seed_gives_the_same_bytes_again_and_another_seed_others() {
        let bytes = |seed| Random::new(seed).bytes(1001);
        assert_eq!(bytes(1), bytes(1));
        assert_ne!(bytes(1), bytes(2));
        assert_ne!(Random::apart(1, 1).bytes(16), Random::apart(1, 2).bytes(16));
    }
}
