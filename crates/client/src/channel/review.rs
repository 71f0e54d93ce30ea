//! How many lanes are used: looks at what limits them, and has more or fewer of them.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use super::evidence::Evidence;
use super::hub::Moved;
use super::lane::Lane;
use super::paths;
use super::shared::Shared;
use super::tally::Tally;
use super::tender::Tender;
use super::{Limit, LimitReport};
use howdah_rpc::client::lanes::{Growth, Look};
use howdah_tune::flight::Choice;
use howdah_tune::paths::FoundPath;

/// How often the lanes are looked at together.
const REVIEW: Duration = Duration::from_millis(100);

/// A channel that moved fewer bytes says little of what its path carries.
const TELLING: u64 = 8 << 20;

/// After so long without a look, nobody knows what limited meanwhile: lanes are not looked at while they carry no calls.
const SLEPT: Duration = Duration::from_secs(1);

/// What is known of the lanes together.
pub(super) struct Review {
    pub(super) growth: Growth,
    pub(super) tally: Tally,
    at: Duration,
    moved: Moved,
    /// What was known of the path at the start, and was found since.
    pub(super) known: Option<FoundPath>,
    found: FoundPath,
    /// Lanes that have a tender: the first ones.
    tended: usize,
}

impl Review {
    /// Of lanes without tenders.
    pub(super) fn new(growth: Growth, known: Option<FoundPath>) -> Self {
        let (tally, moved, found) = Default::default();
        Self { growth, tally, at: Duration::ZERO, moved, known, found, tended: 0 }
    }
}

impl Shared {
    /// Looks at the lanes together, if it is time to and nobody else does.
    pub(super) fn review(self: &Arc<Self>) {
        let Some(mut review) = self.review.try_lock() else { return };
        let (now, moved) = (self.hub.time(), self.hub.moved());
        let time = now.saturating_sub(review.at);
        if time < REVIEW {
            return;
        }
        let bytes = moved.bytes - review.moved.bytes;
        (review.at, review.moved) = (now, moved);
        let Some(evidence) = self.evidence() else { return };
        // Lanes are not looked at while nobody asks, and who looks next would take the silence for what was before it.
        let limit = if self.is_silent() { Limit::Idle } else { evidence.limit };
        let evidence = Evidence { limit, ..evidence };
        if time < SLEPT {
            review.tally.add(&evidence, time, bytes);
        }
        let Evidence { limit, writes, facts, .. } = evidence;
        if limit != Limit::Idle
            && self.hub.remembers_path()
            && !self.sizes.same_host()
            && moved.bytes >= TELLING
        {
            let Choice { rate, bytes, .. } = self.hub.window.explain().1;
            let carries = rate * bytes as f64;
            let found = &mut review.found;
            let direction = if writes { &mut found.sent } else { &mut found.received };
            *direction = direction.max(carries);
            let shortest = if found.round_trip.is_zero() { Duration::MAX } else { found.round_trip };
            (found.round_trip, found.loss) = (facts.round_trip().min(shortest), facts.loss());
            paths::learn(self.lanes()[0].address().ip(), review.known, review.found);
        }
        let ready = self.lanes().iter().filter(|lane| lane.delivers()).count();
        let look = Look { now, limit, writes, moved: moved.bytes, round_trip: facts.round_trip(), ready };
        review.growth.on_look(look);
        self.follow(&mut review);
    }

    /// A connection that was being tried was not taken, or closed before anything came over it.
    pub(super) fn on_refusal(self: &Arc<Self>, lane: &Lane) {
        if let Some(aside) = self.aside.as_ref().filter(|aside| aside.lane.index == lane.index) {
            if lane.is_suspect.load(Ordering::Relaxed) {
                aside.on_refusal();
            }
            return;
        }
        let is_new = lane.index > 0 && lane.is_suspect.load(Ordering::Relaxed);
        let mut review = self.review.lock();
        if is_new && !review.growth.is_fixed() {
            review.growth.on_refusal();
            self.follow(&mut review);
        }
    }

    /// Starts the tenders of the lanes that there are to be.
    pub(super) fn start_tenders(self: &Arc<Self>) -> std::io::Result<()> {
        self.tend(&mut self.review.lock())
    }

    /// What limits the lanes: that which moves most says it.
    fn evidence(&self) -> Option<Evidence> {
        let all = self.lanes().iter().filter_map(|lane| *lane.evidence.lock());
        all.max_by(|a, b| a.rate.total_cmp(&b.rate))
    }

    /// What limits them now, if anything is asked for.
    pub(super) fn limit_now(&self) -> Option<LimitReport> {
        let Evidence { limit, writes, rate, facts } = self.evidence()?;
        let report = LimitReport { limit, writes, share: 1.0, rate, facts };
        (limit != Limit::Idle && !self.is_silent()).then_some(report)
    }

    fn is_silent(&self) -> bool {
        self.hub.window.glance().0 == 0
    }

    /// Has as many lanes as there are to be.
    pub(super) fn follow(self: &Arc<Self>, review: &mut Review) {
        let (before, wanted) = (self.lanes().len(), review.growth.lanes());
        if wanted == before {
            return;
        }
        tracing::info!(before, now = wanted, "lanes: {wanted}, {}", review.growth.why());
        for lane in self.all_lanes().take(wanted).skip(before) {
            // It takes calls once it has answered a first one.
            lane.is_suspect.store(true, Ordering::SeqCst);
            lane.meter.lock().begin_beside_others();
        }
        self.set_lanes(wanted);
        if let Err(error) = self.tend(review) {
            tracing::warn!(%error, "starting a thread for a lane");
            review.growth.on_refusal();
            self.set_lanes(review.growth.lanes());
        }
        // Those that are not used any more have something to do, too.
        self.all_lanes().for_each(|lane| lane.bell.ring());
    }

    fn tend(self: &Arc<Self>, review: &mut Review) -> std::io::Result<()> {
        while let Some(lane) = self.lanes().get(review.tended) {
            let tender = Tender::new(Arc::clone(self), Arc::clone(lane));
            // It ends by itself when the channel is closed; nobody should wait for one that is just connecting.
            thread::Builder::new().name(format!("lane-{}", lane.index)).spawn(|| tender.run())?;
            review.tended += 1;
        }
        Ok(())
    }
}
