//! Each packet is lost with the same probability, whatever happened to the others.

use super::Chance;
use crate::Random;

/// The same probability each time.
#[derive(Debug, Clone)]
pub struct Independent {
    probability: f64,
    random: Random,
}

impl Independent {
    /// With that probability, from 0 to 1.
    pub fn new(probability: f64, seed: u64) -> Self {
        Self { probability, random: Random::new(seed) }
    }
}

impl Chance for Independent {
    fn loses_next(&mut self) -> bool {
        self.random.chance(self.probability)
    }
}
