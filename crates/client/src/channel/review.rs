//! What limits the lanes together, over time, and what was found of their path.

use std::net::IpAddr;
use std::time::Duration;

use howdah_rpc::client::core::MovedBulk;
use howdah_tune::flight::Choice;
use howdah_tune::paths::FoundPath;

use super::evidence::Evidence;
use super::tally::Tally;
use super::{LaneLimit, LimitReport, paths};

/// How often the lanes are looked at together.
const REVIEW: Duration = Duration::from_millis(100);

/// A channel that moved fewer bytes says little of what its path carries.
const TELLING: u64 = 8 << 20;

/// After so long without a look, nobody knows what limited meanwhile: lanes are not looked at while they carry no calls.
const SLEPT: Duration = Duration::from_secs(1);

/// What is known of the lanes together.
pub(super) struct Review {
    tally: Tally,
    at: Duration,
    moved: MovedBulk,
    remembers_path: bool,
    /// What was known of the path at the start, and was found since.
    known: Option<FoundPath>,
    found: FoundPath,
}

impl Review {
    /// Of a channel that knew this of its path, and remembers what it finds or does not.
    pub(super) fn new(known: Option<FoundPath>, remembers_path: bool) -> Self {
        let (tally, moved, found) = Default::default();
        Self { tally, at: Duration::ZERO, moved, remembers_path, known, found }
    }

    /// Whether it is time to look again.
    pub(super) fn is_due(&self, now: Duration) -> bool {
        now.saturating_sub(self.at) >= REVIEW
    }

    /// Looks at the evidence of the lane that moves most. `is_silent`: nothing is asked for. `path` is the peer, unless it is on this
    /// host, and what may be in flight to it. Gives what limits.
    pub(super) fn look(
        &mut self,
        now: Duration,
        moved: MovedBulk,
        evidence: Option<Evidence>,
        is_silent: bool,
        (peer, flight): (Option<IpAddr>, Choice),
    ) -> Option<Evidence> {
        let (time, bytes) = (now.saturating_sub(self.at), moved.bytes - self.moved.bytes);
        (self.at, self.moved) = (now, moved);
        // Lanes are not looked at while nobody asks, and who looks next would take the silence for what was before it.
        let evidence = evidence?;
        let limit = if is_silent { LaneLimit::Idle } else { evidence.limit };
        let evidence = Evidence { limit, ..evidence };
        if time < SLEPT {
            self.tally.add(&evidence, time, bytes);
        }
        if let Some(peer) = peer
            && limit != LaneLimit::Idle
            && self.remembers_path
            && moved.bytes >= TELLING
        {
            self.learn(peer, &evidence, flight);
        }
        Some(evidence)
    }

    /// What was known of the path when the channel was opened.
    pub(super) fn known_path(&self) -> Option<FoundPath> {
        self.known
    }

    /// What limited reads and writes for most of the time in which there were any.
    pub(super) fn report(&self) -> Vec<LimitReport> {
        self.tally.report()
    }

    fn learn(&mut self, peer: IpAddr, evidence: &Evidence, flight: Choice) {
        let carries = flight.rate * flight.bytes as f64;
        let found = &mut self.found;
        let direction = if evidence.writes { &mut found.sent } else { &mut found.received };
        *direction = direction.max(carries);
        let shortest = if found.round_trip.is_zero() { Duration::MAX } else { found.round_trip };
        let facts = &evidence.facts;
        (found.round_trip, found.loss) = (facts.round_trip().min(shortest), facts.loss());
        paths::learn(peer, self.known, self.found);
    }
}
