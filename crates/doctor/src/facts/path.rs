//! What is between two hosts.

use serde::{Deserialize, Serialize};

/// A path.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PathFacts {
    /// The server's address.
    pub address: String,
    /// Whether it is this very host.
    pub is_local: bool,
    /// The least time there and back, in seconds.
    pub round_trip: Option<f64>,
    /// Small packets, sent close together.
    pub train: Option<TrainFacts>,
    /// The same, further apart, if some of the first were lost.
    pub slow_train: Option<TrainFacts>,
    /// The longest packets.
    pub mtu: Option<MtuFacts>,
    /// What it carries to the server.
    pub there: Option<RateFacts>,
    /// What it carries from the server.
    pub back: Option<RateFacts>,
    /// Whether that was low at first, and measured once more: the better of both stands.
    pub measured_twice: bool,
    /// What could not be found out, and why.
    pub could_not: Vec<String>,
}

impl PathFacts {
    /// Whether anything was found out.
    pub fn is_measured(&self) -> bool {
        let rates = self.there.is_some() || self.back.is_some();
        rates || self.round_trip.is_some() || self.train.is_some() || self.mtu.is_some()
    }

    /// What it carries for writes, or for reads; where the way back was not measured, the way there stands for it.
    pub fn network(&self, writes: bool) -> Option<&RateFacts> {
        if writes { self.there.as_ref() } else { self.back.as_ref().or(self.there.as_ref()) }
    }

    /// What it carries was measured once more: what somebody else sent for a moment is no fault of the path.
    pub fn once_more(&mut self, there: Option<RateFacts>, back: Option<RateFacts>) {
        self.measured_twice = true;
        self.there = RateFacts::better(self.there.take(), there);
        self.back = RateFacts::better(self.back.take(), back);
    }
}

/// Packets that were sent and were to come back.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrainFacts {
    /// How: `icmp`, or `udp` to a doctor that listens.
    pub by: String,
    /// How many.
    pub sent: u64,
    /// How many arrived there, where that is known.
    pub arrived: Option<u64>,
    /// How many came back.
    pub came: u64,
    /// How many came after one that was sent later.
    pub overtaken: u64,
    /// The least time there and back, in seconds.
    pub least: Option<f64>,
    /// The median.
    pub median: Option<f64>,
    /// What 99 of 100 took at most.
    pub slow: Option<f64>,
}

/// The longest packets that pass, headers included.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MtuFacts {
    /// How long the kernel believes that they may be.
    pub believed: u64,
    /// The longest that was seen to pass both ways; none if not even the shortest did.
    pub passes: Option<u64>,
    /// What became of longer ones.
    pub too_large: TooLargePacket,
    /// Whether longer ones arrive there, and only do not come back.
    pub arrives_there: Option<bool>,
}

/// What becomes of a packet that is too long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TooLargePacket {
    /// There was none: the longest pass.
    #[default]
    None,
    /// Somebody says so, and the kernel sends shorter ones from then on.
    Told,
    /// It vanishes, and nobody says so.
    Vanishes,
}

impl RateFacts {
    fn better(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        one.into_iter()
            .chain(other)
            .max_by(|one, other| one.bytes_per_second.total_cmp(&other.bytes_per_second))
    }
}

/// Bytes that were moved as fast as they went.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RateFacts {
    /// How.
    pub by: String,
    /// Bytes per second.
    pub bytes_per_second: f64,
    /// The part of the bytes that was sent again, where the sender is known.
    pub sent_again: Option<f64>,
    /// The round trip meanwhile, in seconds.
    pub round_trip: Option<f64>,
    /// The longest packets that it was moved in, headers included.
    pub packet: Option<u64>,
    /// Whether a window or a buffer held it back, so that the path may carry more; and which.
    pub held_back_by: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_better_of_two_stands() {
        let rate = |bytes_per_second| Some(RateFacts { bytes_per_second, ..RateFacts::default() });
        let mut path = PathFacts { there: rate(5.0), back: rate(9.0), ..PathFacts::default() };
        path.once_more(rate(7.0), None);
        assert_eq!((path.there, path.back, path.measured_twice), (rate(7.0), rate(9.0), true));
    }
}
