//! What a wire did so far.

use std::time::Duration;

use howdah_link::Counters;
use serde::{Deserialize, Serialize};

/// Both directions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireCounters {
    /// From the wire's first host to its second.
    pub there: DirectionCounters,
    /// From its second to its first.
    pub back: DirectionCounters,
}

impl WireCounters {
    /// Both, by name.
    pub fn directions(&self) -> [(&'static str, &DirectionCounters); 2] {
        [("there", &self.there), ("back", &self.back)]
    }
}

/// One direction, in the order in which packets come through: what the forwarder took from the sender ("taken", where it
/// drops if it has no memory), the elements of the path, and what the receiver was given ("delivered", where its kernel may
/// refuse). Packets are counted as what they stand for, segments, and bytes as on an Ethernet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectionCounters {
    /// Each step.
    pub elements: Vec<ElementCounters>,
    /// How exact the forwarder was.
    pub late: Lateness,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ElementCounters {
    /// What it is called.
    pub name: String,
    /// What it did.
    pub counters: Counters,
}

/// How much later than the path says packets were delivered: what the machine adds to a path's delay. Super-packets count
/// once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lateness {
    /// Those that were late by less than 1 us, by 1 to 2 us, by 2 to 4 us, and so on; the last one holds all the rest.
    pub counts: [u64; 24],
    /// The latest, in nanoseconds.
    pub most: u64,
    /// Those that were later than [`Self::EXACT`].
    #[serde(default)]
    pub inexact: u64,
}

impl Lateness {
    /// A packet that is not later than this was on time.
    pub const EXACT: Duration = Duration::from_micros(200);

    pub(super) fn count(&mut self, late: Duration) {
        let nanoseconds = u64::try_from(late.as_nanos()).unwrap_or(u64::MAX);
        let microseconds = nanoseconds / 1000;
        let power = (u64::BITS - microseconds.leading_zeros()) as usize;
        self.counts[power.min(self.counts.len() - 1)] += 1;
        self.most = self.most.max(nanoseconds);
        self.inexact += u64::from(late > Self::EXACT);
    }

    /// The part of all packets that was on time; none if there were none.
    pub fn exact(&self) -> Option<f64> {
        let all: u64 = self.counts.iter().sum();
        (all > 0).then(|| 1.0 - self.inexact as f64 / all as f64)
    }

    /// A time that this part of all packets was not later than: 0.99 for 99 of 100. As exact as the counts: up to twice
    /// what it was.
    pub fn quantile(&self, part: f64) -> Duration {
        let all: u64 = self.counts.iter().sum();
        let wanted = (all as f64 * part).ceil() as u64;
        let mut seen = 0;
        let power = self.counts[..self.counts.len() - 1].iter().position(|count| {
            seen += count;
            seen >= wanted
        });
        let most = Duration::from_nanos(self.most);
        // What the last count holds is bounded by the latest only.
        power.map_or(most, |power| most.min(Duration::from_micros(1 << power)))
    }

    /// What came since an earlier look; the latest is that of all time.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut late = *self;
        for (count, before) in late.counts.iter_mut().zip(earlier.counts) {
            *count -= before;
        }
        late.inexact -= earlier.inexact;
        late
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_bounds() {
        let mut late = Lateness::default();
        for microseconds in 0..1000 {
            late.count(Duration::from_micros(microseconds));
        }
        assert_eq!(late.quantile(0.5), Duration::from_micros(512));
        assert_eq!(late.quantile(1.0), Duration::from_micros(999), "never more than the latest");
        late.count(Duration::from_secs(3600));
        assert_eq!(late.quantile(1.0), Duration::from_secs(3600));
        assert_eq!(late.since(&late).counts.iter().sum::<u64>(), 0);
    }

    #[test]
    fn who_is_on_time_is_counted() {
        let mut late = Lateness::default();
        assert_eq!(late.exact(), None, "of no packets");
        for microseconds in [0, 199, 200, 201] {
            late.count(Duration::from_micros(microseconds));
        }
        assert_eq!(late.exact(), Some(0.75));
        let before = late;
        late.count(Duration::from_millis(1));
        assert_eq!(late.since(&before).exact(), Some(0.0));
    }
}
