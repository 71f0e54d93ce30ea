//! `[[share]]`: how much of what is short some clients get, against others.

use std::net::IpAddr;

use crate::exports::Clients;
use crate::locks::RwLock;

/// Some clients, and how many calls each of them gets where others get one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareRule {
    /// Whose: by address.
    pub clients: Clients,
    /// How many calls in a turn, at least 1.
    pub weight: u32,
}

/// The weights of all clients.
#[derive(Debug, Default)]
pub struct Weights(RwLock<Vec<ShareRule>>);

impl Weights {
    /// From now on these hold: the first rule that fits a client counts.
    pub fn set(&self, rules: Vec<ShareRule>) {
        *self.0.write() = rules;
    }

    /// The weight of a client; 1 if no rule fits.
    pub fn of(&self, client: IpAddr) -> u32 {
        let rules = self.0.read();
        rules.iter().find(|rule| rule.clients.contains(client)).map_or(1, |rule| rule.weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_that_fits_counts() {
        let weights = Weights::default();
        let client = IpAddr::from([10, 1, 2, 3]);
        assert_eq!(weights.of(client), 1);
        let rule = |prefix, weight| ShareRule {
            clients: Clients::Network { address: IpAddr::from([10, 0, 0, 0]), prefix },
            weight,
        };
        weights.set(vec![rule(16, 9), rule(8, 4), rule(0, 2)]);
        assert_eq!((weights.of(client), weights.of(IpAddr::from([192, 0, 2, 1]))), (4, 2));
    }
}
