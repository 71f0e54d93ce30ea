//! Each packet is lost with the same probability, whatever happened to the others.

use super::Chance;
use crate::Random;

/// The same probability each time. Chance is asked once per loss and not once per packet: it gives how many pass before
/// the next one, which follows a geometric distribution.
#[derive(Debug, Clone)]
pub struct Independent {
    probability: f64,
    /// So many pass before the next loss.
    spared: u64,
    random: Random,
}

impl Independent {
    /// With that probability, from 0 to 1.
    pub fn new(probability: f64, seed: u64) -> Self {
        let mut rule = Self { probability, spared: 0, random: Random::new(seed) };
        rule.spared = rule.draw();
        rule
    }

    fn draw(&mut self) -> u64 {
        if self.probability <= 0.0 {
            return u64::MAX;
        }
        // At most n pass with the probability 1 - (1 - p)^(n + 1). Conversions to integers round down and saturate.
        ((-self.random.fraction()).ln_1p() / (-self.probability).ln_1p()) as u64
    }
}

impl Chance for Independent {
    fn loses_next(&mut self) -> bool {
        self.spares(1) == 0
    }

    fn spares(&mut self, of: u32) -> u32 {
        if self.spared >= u64::from(of) {
            self.spared -= u64::from(of);
            return of;
        }
        let spared = self.spared as u32;
        self.spared = self.draw();
        spared
    }
}
