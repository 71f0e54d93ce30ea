//! What limited a channel over time: for how long what did, of reads and of writes.

use std::collections::BTreeMap;
use std::time::Duration;

use super::evidence::{Evidence, Facts};
use super::{LaneLimit, LimitReport};

/// The sums.
#[derive(Debug, Default)]
pub(super) struct Tally {
    reads: BTreeMap<LaneLimit, Sum>,
    writes: BTreeMap<LaneLimit, Sum>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    time: Duration,
    bytes: u64,
    /// As they were last.
    facts: Facts,
}

impl Tally {
    /// For so long something limited the channel, in which calls moved so many bytes.
    pub(super) fn add(&mut self, evidence: &Evidence, time: Duration, bytes: u64) {
        if evidence.limit == LaneLimit::Idle {
            return;
        }
        let sums = if evidence.writes { &mut self.writes } else { &mut self.reads };
        let sum = sums.entry(evidence.limit).or_default();
        sum.time += time;
        sum.bytes += bytes;
        sum.facts = evidence.facts;
    }

    /// What limited each direction the longest, of those in which something was moved: calls without data have replies too.
    pub(super) fn report(&self) -> Vec<LimitReport> {
        [(true, &self.writes), (false, &self.reads)]
            .into_iter()
            .filter_map(|(writes, sums)| longest(writes, sums))
            .collect()
    }
}

fn longest(writes: bool, sums: &BTreeMap<LaneLimit, Sum>) -> Option<LimitReport> {
    let all: Duration = sums.values().map(|sum| sum.time).sum();
    let (&limit, sum) = sums.iter().max_by_key(|(_, sum)| sum.time)?;
    let seconds = sum.time.as_secs_f64();
    let moved: u64 = sums.values().map(|sum| sum.bytes).sum();
    (moved > 0 && seconds > 0.0).then(|| LimitReport {
        limit,
        writes,
        share: seconds / all.as_secs_f64(),
        rate: sum.bytes as f64 / seconds,
        facts: sum.facts,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_limited_the_longest_is_told_of_each_direction() {
        let mut tally = Tally::default();
        let mut add = |limit, writes, seconds| {
            let evidence = Evidence { limit, writes, rate: 0.0, facts: Facts::default() };
            tally.add(&evidence, Duration::from_secs(seconds), 1_000_000 * seconds);
        };
        add(LaneLimit::Start, true, 1);
        add(LaneLimit::Path, true, 3);
        add(LaneLimit::Idle, true, 100);
        add(LaneLimit::Server, false, 2);
        let reported: Vec<_> =
            tally.report().iter().map(|row| (row.limit, row.writes, row.share, row.rate)).collect();
        assert_eq!(reported, [(LaneLimit::Path, true, 0.75, 1e6), (LaneLimit::Server, false, 1.0, 1e6)]);
    }

    #[test]
    fn nothing_is_told_of_a_direction_in_which_nothing_was_moved() {
        let mut tally = Tally::default();
        let evidence =
            Evidence { limit: LaneLimit::Slots, writes: false, rate: 0.0, facts: Facts::default() };
        tally.add(&evidence, Duration::from_secs(1), 0);
        assert!(tally.report().is_empty());
    }
}
