//! A channel's inside: its lanes, and which of them carries a call.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use howdah_rpc::client::lanes::{Candidate, Growth, Place, first_to_deliver};
use howdah_tune::paths::FoundPath;
use parking_lot::Mutex;

use super::aside::Aside;
use super::call::Call;
use super::hub::Hub;
use super::lane::Lane;
use super::review::Review;
use super::sizes::Sizes;
use super::{CallError, Class, Request};

/// A channel's inside.
pub(super) struct Shared {
    pub(super) hub: Arc<Hub>,
    /// All that there may be, of which the first ones are used.
    lanes: Vec<Arc<Lane>>,
    used: AtomicUsize,
    /// One for small calls, where the number of lanes is ours to choose.
    pub(super) aside: Option<Aside>,
    pub(super) sizes: Sizes,
    pub(super) review: Mutex<Review>,
}

impl Shared {
    /// A channel over these lanes, of which as many are used as `growth` says.
    pub(super) fn new(
        hub: Arc<Hub>,
        lanes: Vec<Arc<Lane>>,
        aside: Option<Aside>,
        sizes: Sizes,
        (growth, known): (Growth, Option<FoundPath>),
    ) -> Self {
        let used = AtomicUsize::new(growth.lanes());
        Self { hub, lanes, used, aside, sizes, review: Mutex::new(Review::new(growth, known)) }
    }

    /// The lanes that are used, for all calls.
    pub(super) fn lanes(&self) -> &[Arc<Lane>] {
        &self.lanes[..self.used.load(Ordering::SeqCst)]
    }

    /// All lanes: some were used, or may be.
    pub(super) fn all_lanes(&self) -> impl Iterator<Item = &Arc<Lane>> {
        self.lanes.iter().chain(self.aside.as_ref().map(|aside| &aside.lane))
    }

    /// The lanes that are used, that for small calls among them.
    pub(super) fn used_lanes(&self) -> impl Iterator<Item = &Arc<Lane>> {
        let aside = self.aside.as_ref().filter(|aside| aside.is_used());
        self.lanes().iter().chain(aside.map(|aside| &aside.lane))
    }

    /// From now on so many are used.
    pub(super) fn set_lanes(&self, count: usize) {
        self.used.store(count.clamp(1, self.lanes.len()), Ordering::SeqCst);
    }

    /// Whether a lane is used.
    pub(super) fn uses(&self, lane: &Lane) -> bool {
        match &self.aside {
            Some(aside) if aside.lane.index == lane.index => aside.is_used(),
            _ => lane.index < self.used.load(Ordering::SeqCst),
        }
    }

    /// Makes a call. It goes out when it may be in flight.
    pub(super) fn start(&self, request: Request<'_>) -> Arc<Call> {
        let volume = request.volume();
        let (lane, started) = (self.choose(volume, request.class), Instant::now());
        let call = Arc::new(self.hub.prepare(request, volume, Place::None, started, Some(Arc::clone(lane))));
        lane.enter(&call);
        self.launch(lane, &call, started);
        lane.bell.wake_sleeper();
        call
    }

    /// Sends a call that this lane was given, if it may be in flight.
    fn launch(&self, lane: &Arc<Lane>, call: &Arc<Call>, now: Instant) {
        if self.hub.window.enter(call, self.hub.time_at(now)) {
            // The lane may have lost its connection meanwhile, and another have taken the call. That did not send it: it did
            // not know that it may.
            let lane = call.lane().unwrap_or_else(|| Arc::clone(lane));
            lane.on_admitted(call, now);
            lane.send_next(call, now);
        } else if self.used_lanes().nth(1).is_some() {
            // It waits for replies on any lane, and its caller for one on this.
            for other in self.all_lanes().filter(|other| other.load() > 0 && other.lacks_leader()) {
                other.is_urgent.store(true, Ordering::SeqCst);
                other.bell.ring();
            }
        }
    }

    /// The lane that will deliver a call of so many bytes first.
    fn choose(&self, volume: usize, class: Class) -> &Arc<Lane> {
        let first = match self.lanes() {
            [lane] => lane,
            _ => self.first_to_deliver(volume, |_| true).unwrap_or(&self.lanes[0]),
        };
        if class.is_bulk() { first } else { self.aside_or(first) }
    }

    fn first_to_deliver(&self, volume: usize, may: impl Fn(&Arc<Lane>) -> bool) -> Option<&Arc<Lane>> {
        let used = self.lanes();
        let candidate = |lane: &Arc<Lane>| {
            // Given back at once: `may` asks for the lane's table.
            let meter = *lane.meter.lock();
            Candidate {
                is_connected: lane.live_link().is_some(),
                is_suspect: lane.is_suspect.load(Ordering::Relaxed),
                meter,
                load: lane.load(),
                is_eligible: may(lane),
            }
        };
        let candidates: Vec<_> = used.iter().map(candidate).collect();
        first_to_deliver(volume, &candidates).map(|first| &used[first])
    }

    /// A lane is not connected: others that are take its calls.
    pub(super) fn rehome(&self, lane: &Arc<Lane>) {
        let is_other = |other: &Arc<Lane>| !Arc::ptr_eq(lane, other) && other.live_link().is_some();
        for call in lane.calls() {
            let Some(other) = self.first_to_deliver(call.volume, is_other) else { return };
            let now = Instant::now();
            if self.move_over(&call, lane, other, now) && call.is_to_be_sent() {
                other.on_admitted(&call, now);
                other.send_next(&call, now);
            }
            // Its tender looks after the call.
            other.bell.wake_sleeper();
        }
    }

    /// A call may go out: over the lane that delivers it first, as it looks now. When it was made, others were before it.
    pub(super) fn settle(&self, call: &Arc<Call>, lane: &Arc<Lane>, now: Instant) -> Arc<Lane> {
        let is_open = call.class.is_bulk() && self.lanes().len() > 1;
        let better = if is_open { self.first_to_deliver(call.volume, |_| true) } else { None };
        let lane = match better.filter(|better| !Arc::ptr_eq(better, lane)) {
            Some(better) if self.move_over(call, lane, better, now) => better,
            _ => lane,
        };
        lane.on_admitted(call, now);
        Arc::clone(lane)
    }

    /// Another lane carries a call from now on, unless that is over.
    fn move_over(&self, call: &Arc<Call>, from: &Lane, to: &Arc<Lane>, now: Instant) -> bool {
        if from.give_up(call.xid, now).is_none() {
            return false;
        }
        call.move_to(to);
        to.enter(call);
        // A thread that closed the channel or gave up the call may have missed it between the two lanes.
        let is_lost = (self.hub.is_closing() || call.is_done()) && to.give_up(call.xid, now).is_some();
        if is_lost {
            self.hub.finish(call, Err(CallError::Closed), now);
        }
        !is_lost
    }

    /// When something was last received on a lane other than this.
    pub(super) fn others_heard(&self, lane: &Arc<Lane>) -> Option<Duration> {
        let others = self.all_lanes().filter(|other| !Arc::ptr_eq(lane, other));
        others.filter_map(|other| other.live_link()).map(|link| link.heard()).max()
    }

    /// Asks for a sign of life on all lanes.
    pub(super) fn ask_all(&self) {
        self.used_lanes().filter(|lane| lane.live_link().is_some()).for_each(|lane| self.ask(lane));
    }

    /// Asks for a sign of life on this lane.
    pub(super) fn ask(&self, lane: &Arc<Lane>) {
        let Some((program, version)) = self.hub.program() else { return };
        let request = Request::null(program, version);
        let now = Instant::now();
        let call = Arc::new(self.hub.prepare(request, 0, Place::None, now, Some(Arc::clone(lane))));
        call.admit(|| Place::None);
        lane.enter(&call);
        lane.on_admitted(&call, now);
        lane.send_next(&call, now);
        // Nobody waits for the answer.
        lane.bell.ring();
    }
}

#[cfg(test)]
mod tests;
