//! What all lanes of a channel share.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use howdah_net::ConnectSettings;
use howdah_rpc::client::{Outgoing, Reply};
use howdah_wire::rpc::CallHeader;

use super::call::{Call, Kind, Parts};
use super::lane::Lane;
use super::{Answer, CallError, ChannelOptions, Patience, Request, tender};

/// What lanes and calls know of their channel.
pub(super) struct Hub {
    options: ChannelOptions,
    epoch: Instant,
    is_closing: AtomicBool,
}

/// A channel's inside.
pub(super) struct Shared {
    pub(super) hub: Arc<Hub>,
    pub(super) lanes: Vec<Arc<Lane>>,
    xid: AtomicU32,
    number: AtomicU64,
}

impl Hub {
    /// Of a channel with these options.
    pub(super) fn new(options: ChannelOptions) -> Self {
        Self { options, epoch: Instant::now(), is_closing: AtomicBool::new(false) }
    }

    /// The channel's time: milliseconds since it was opened.
    pub(super) fn now(&self) -> u64 {
        self.epoch.elapsed().as_millis() as u64
    }

    /// Whether the channel is being closed.
    pub(super) fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::SeqCst)
    }

    /// The channel is being closed.
    pub(super) fn close(&self) {
        self.is_closing.store(true, Ordering::SeqCst);
    }

    /// Whether calls have deadlines.
    pub(super) fn is_soft(&self) -> bool {
        self.options.patience != Patience::Hard
    }

    /// How long a server may say nothing while calls wait.
    pub(super) fn silence(&self) -> Duration {
        self.options.silence
    }

    /// When a call that starts now is given up.
    fn deadline(&self, now: Instant) -> Option<Instant> {
        match self.options.patience {
            Patience::Hard => None,
            Patience::Soft(patience) => now.checked_add(patience),
        }
    }

    /// How to connect.
    pub(super) fn connect_settings(&self) -> ConnectSettings {
        let tick = match self.options.patience {
            Patience::Soft(patience) => patience.max(Duration::from_millis(1)),
            Patience::Hard => Duration::MAX,
        };
        let settings = tender::settings(self.options.connect_timeout, self.options.silence);
        ConnectSettings { tick: settings.tick.min(tick), ..settings }
    }

    /// A call is sent, so many times before.
    pub(super) fn on_send(&self, _call: &Call, _before: u32) {}

    /// A reply came.
    pub(super) fn on_reply(&self, call: &Call, reply: Reply) {
        let Call { kind, class, volume, .. } = call;
        tracing::trace!(?kind, ?class, volume, took = ?call.started.elapsed(), "answered");
        self.finish(call, Answer::from_reply(reply, call.sends() > 1));
    }

    /// A call's time is over.
    pub(super) fn give_up(&self, lane: &Lane, call: &Call) {
        lane.leave(call.xid);
        self.finish(call, Err(CallError::TimedOut));
    }

    /// A call is over.
    pub(super) fn finish(&self, call: &Call, outcome: Result<Answer, CallError>) {
        call.finish(outcome);
    }
}

impl Shared {
    /// A channel over these lanes.
    pub(super) fn new(hub: Arc<Hub>, lanes: Vec<Arc<Lane>>) -> Self {
        // A server remembers calls by their xid, and this host may have had another channel to it a moment ago.
        let first = RandomState::new().hash_one(std::process::id()) as u32;
        Self { hub, lanes, xid: AtomicU32::new(first), number: AtomicU64::new(0) }
    }

    /// Makes a call.
    pub(super) fn start(&self, request: Request<'_>) -> Arc<Call> {
        let call = self.prepare(request);
        call.lane().dispatch(&call);
        call
    }

    fn prepare(&self, request: Request<'_>) -> Arc<Call> {
        let Request { program, version, procedure, credentials, arguments, payload, receive, class, .. } =
            request;
        let xid = self.xid.fetch_add(1, Ordering::Relaxed);
        let header = CallHeader { xid, program, version, procedure, credentials };
        let volume =
            payload.as_ref().map_or(0, Bytes::len) + receive.as_ref().map_or(0, |receive| receive.most);
        let started = Instant::now();
        let parts = Parts {
            xid,
            number: self.number.fetch_add(1, Ordering::Relaxed),
            kind: Kind { program, version, procedure },
            class,
            outgoing: Outgoing::new(&header, arguments, payload),
            volume,
            receive,
            started,
            deadline: self.hub.deadline(started),
        };
        Arc::new(Call::new(parts, Arc::clone(self.choose())))
    }

    /// The lane for the next call.
    fn choose(&self) -> &Arc<Lane> {
        let lanes = self.lanes.iter();
        lanes.min_by_key(|lane| (lane.live_link().is_none(), lane.load())).expect("there is a lane at least")
    }

    /// A lane cannot be connected: others that are take its calls.
    pub(super) fn rehome(&self, lane: &Arc<Lane>) {
        let order = lane.order.lock();
        let calls = lane.calls();
        let is_other = |other: &&Arc<Lane>| !Arc::ptr_eq(lane, other) && other.live_link().is_some();
        for call in calls {
            let Some(other) = self.lanes.iter().filter(is_other).min_by_key(|other| other.load()) else {
                break;
            };
            if lane.leave(call.xid).is_some() {
                call.move_to(other);
                other.dispatch(&call);
            }
        }
        drop(order);
    }
}
