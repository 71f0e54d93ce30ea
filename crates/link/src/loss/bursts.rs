//! Losses that come in bursts: a line that is good for a while and then bad for a while (Gilbert-Elliott).

use super::Chance;
use crate::Random;

/// Two states, with a probability of loss in each; before each packet the state may change.
#[derive(Debug, Clone)]
pub struct Bursts {
    to_bad: f64,
    to_good: f64,
    loss_when_good: f64,
    loss_when_bad: f64,
    bad: bool,
    random: Random,
}

impl Bursts {
    /// Nothing is lost while the line is good, everything while it is bad (Gilbert). It turns bad with the probability
    /// `to_bad` and good again with `to_good`: a burst has `1 / to_good` packets on average.
    pub fn new(to_bad: f64, to_good: f64, seed: u64) -> Self {
        Self {
            to_bad,
            to_good,
            loss_when_good: 0.0,
            loss_when_bad: 1.0,
            bad: false,
            random: Random::new(seed),
        }
    }

    /// So that this part of all packets is lost, in bursts of so many on average (Gilbert): `length` is at least one, and
    /// at most `length / (length + 1)` can be lost, since at least one packet passes between two bursts.
    pub fn averaging(loss: f64, length: f64, seed: u64) -> Self {
        let to_good = 1.0 / length.max(1.0);
        // In the long run to_bad / (to_bad + to_good) of all packets meet a bad line.
        let to_bad = if loss >= 1.0 { 1.0 } else { (to_good * loss / (1.0 - loss)).min(1.0) };
        Self::new(to_bad, to_good, seed)
    }

    /// The same with these probabilities of loss (Elliott).
    #[must_use]
    pub fn losing(mut self, when_good: f64, when_bad: f64) -> Self {
        (self.loss_when_good, self.loss_when_bad) = (when_good, when_bad);
        self
    }

    /// What part of the packets is lost in the long run.
    pub fn average(&self) -> f64 {
        let bad = self.to_bad / (self.to_bad + self.to_good);
        bad * self.loss_when_bad + (1.0 - bad) * self.loss_when_good
    }
}

impl Chance for Bursts {
    fn loses_next(&mut self) -> bool {
        let change = if self.bad { self.to_good } else { self.to_bad };
        self.bad ^= self.random.chance(change);
        self.random.chance(if self.bad { self.loss_when_bad } else { self.loss_when_good })
    }
}
