//! A channel's inside: its lanes, and which of them carries a call.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use howdah_net::Wait;
use howdah_rpc::client::{Class, Replay};
use howdah_wire::rpc::Credentials;
use howdah_wire::xdr::{Encode, Encoder};

use super::call::Call;
use super::hub::Hub;
use super::lane::Lane;
use super::window::Place;
use super::{CallError, Request};

/// What a lane is taken to deliver before any was measured, in bytes per second.
const RATE_UNKNOWN: f64 = 1e9;

/// A channel's inside.
pub(super) struct Shared {
    pub(super) hub: Arc<Hub>,
    pub(super) lanes: Vec<Arc<Lane>>,
}

impl Shared {
    /// A channel over these lanes.
    pub(super) fn new(hub: Arc<Hub>, lanes: Vec<Arc<Lane>>) -> Self {
        Self { hub, lanes }
    }

    /// Makes a call, once it may be in flight.
    pub(super) fn start(&self, request: Request<'_>) -> Arc<Call> {
        let started = Instant::now();
        let deadline = self.hub.deadline(started);
        let volume = request.volume();
        let Some(place) = self.enter(request.class, volume, deadline) else {
            let call = self.prepare(request, volume, Place::None, started);
            self.hub.finish(&call, Err(CallError::TimedOut));
            return call;
        };
        let call = self.prepare(request, volume, place, started);
        if let Some(lane) = call.lane() {
            lane.dispatch(&call);
        }
        call
    }

    /// Waits for a place among the calls in flight; `None` if time runs out.
    fn enter(&self, class: Class, volume: usize, deadline: Option<Instant>) -> Option<Place> {
        loop {
            if let Some(place) = self.hub.window.enter(class, volume, self.hub.time()) {
                return Some(place);
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return None;
            }
            // Whoever waits for room waits for replies: they are received here, if that is the only place to look.
            if let [lane] = &self.lanes[..]
                && lane.lead(Wait::Some, || self.hub.window.has_room(class))
            {
                lane.hand_over();
                continue;
            }
            for lane in self.lanes.iter().filter(|lane| lane.load() > 0 && lane.lacks_leader()) {
                lane.is_urgent.store(true, Ordering::SeqCst);
                lane.bell.ring();
            }
            self.hub.window.wait(class);
        }
    }

    fn prepare(&self, request: Request<'_>, volume: usize, place: Place, started: Instant) -> Arc<Call> {
        self.prepare_for(self.choose(volume), request, volume, place, started)
    }

    fn prepare_for(
        &self,
        lane: &Arc<Lane>,
        request: Request<'_>,
        volume: usize,
        place: Place,
        started: Instant,
    ) -> Arc<Call> {
        Arc::new(self.hub.prepare(request, volume, place, started, Some(Arc::clone(lane))))
    }

    /// The lane that will deliver a call of so many bytes first.
    fn choose(&self, volume: usize) -> &Arc<Lane> {
        let [lane] = &self.lanes[..] else {
            return self.first_to_deliver(volume, |_| true).unwrap_or(&self.lanes[0]);
        };
        lane
    }

    fn first_to_deliver(&self, volume: usize, may: impl Fn(&Arc<Lane>) -> bool) -> Option<&Arc<Lane>> {
        let meters: Vec<_> = self.lanes.iter().map(|lane| *lane.meter.lock()).collect();
        let fastest = meters.iter().map(|meter| meter.rate()).fold(0.0, f64::max);
        let otherwise = if fastest > 0.0 { fastest } else { RATE_UNKNOWN };
        let lanes = self.lanes.iter().zip(&meters).filter(|(lane, _)| may(lane));
        let first = lanes.min_by_key(|(lane, meter)| {
            (lane.live_link().is_none(), meter.delivery(volume, otherwise), lane.load())
        });
        first.map(|(lane, _)| lane)
    }

    /// A lane is not connected: others that are take its calls.
    pub(super) fn rehome(&self, lane: &Arc<Lane>) {
        let is_other = |other: &Arc<Lane>| !Arc::ptr_eq(lane, other) && other.live_link().is_some();
        for call in lane.calls() {
            let Some(other) = self.first_to_deliver(call.volume, is_other) else { return };
            if lane.leave(call.xid, false).is_some() {
                call.move_to(other);
                other.dispatch(&call);
            }
        }
    }

    /// When something was last received on a lane other than this.
    pub(super) fn others_heard(&self, lane: &Arc<Lane>) -> Option<Duration> {
        let others = self.lanes.iter().filter(|other| !Arc::ptr_eq(lane, other));
        others.filter_map(|other| other.live_link()).map(|link| link.heard()).max()
    }

    /// Asks for a sign of life on all lanes.
    pub(super) fn ask_all(&self) {
        let Some(kind) = self.lanes.iter().find_map(|lane| lane.calls().first().map(|call| call.kind)) else {
            return;
        };
        for lane in self.lanes.iter().filter(|lane| lane.live_link().is_some()) {
            let request = Request {
                program: kind.program,
                version: kind.version,
                // Each program has NULL, which takes nothing, gives nothing, and is answered at once (RFC 5531 12.1).
                procedure: 0,
                credentials: Credentials::None,
                arguments: &Nothing,
                payload: None,
                receive: None,
                class: Class::Attributes,
                replay: Replay::Idempotent,
            };
            let call = self.prepare_for(lane, request, 0, Place::None, Instant::now());
            lane.try_dispatch(&call);
        }
    }
}

/// No arguments.
struct Nothing;

impl Encode for Nothing {
    fn encode(&self, _: &mut Encoder<'_>) {}
}
