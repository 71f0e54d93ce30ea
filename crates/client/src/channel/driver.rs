//! What all threads of a channel share: its decisions, behind one lock, and its time.

use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use howdah_rpc::client::Outgoing;
use howdah_rpc::client::core::{
    CallFacts, ChannelNotice, Core, CoreSettings, Failure, LanePlan, Patience, ProcedureId,
};
use howdah_rpc::client::envelope::{CallSession, ResultsCover};
use howdah_tune::flight::Bounds;
use howdah_wire::rpc::CallHeader;
use parking_lot::{Mutex, MutexGuard};

use super::call::{Call, Parts};
use super::{CallError, ChannelOptions, Request};

/// How often a waiting call checks whether anything arrived from the server.
const LOOK_AGAIN: Duration = Duration::from_millis(250);
/// At least so many bytes of bulk are in flight. Of WRITEs of 32 KiB each they are 64, so that a tree of small files need not wait until
/// the path is measured; of 1 MiB each they are two.
const FLOOR_BYTES: usize = 2 << 20;
/// The most bulk calls in flight, if they are small: as many as there may be of other calls.
const CEILING: usize = 1024;

/// The decisions of a channel, and what calls are made of.
pub(super) struct Driver {
    /// Innermost lock: take no other lock while this is held.
    core: Mutex<Core<Arc<Call>>>,
    patience: Patience,
    epoch: Instant,
    xid: AtomicU32,
    is_closing: AtomicBool,
}

impl Driver {
    /// Of a channel over such lanes, or over datagrams.
    pub(super) fn new(
        options: &ChannelOptions,
        plan: Option<LanePlan>,
        session: Option<Box<dyn CallSession>>,
    ) -> Self {
        let settings =
            CoreSettings { patience: options.patience, silence: options.silence, bounds: bounds(options) };
        Self {
            core: Mutex::new(Core::new(&settings, plan, session)),
            patience: options.patience,
            epoch: Instant::now(),
            // A server remembers calls by their xid, and this host may have had another channel to it a moment ago.
            xid: AtomicU32::new(RandomState::new().hash_one(std::process::id()) as u32),
            is_closing: AtomicBool::new(false),
        }
    }

    /// The decisions. Act on their outputs only after releasing this lock.
    pub(super) fn core(&self) -> MutexGuard<'_, Core<Arc<Call>>> {
        self.core.lock()
    }

    /// The channel's time: how long ago it was opened.
    pub(super) fn time(&self) -> Duration {
        self.time_at(Instant::now())
    }

    /// The same at a moment that is known: the clock is read once for all that one event sets off. Where reading it is a system
    /// call (in User Mode Linux, or with a clock source that user space cannot read), that is a good part of a call's cost.
    pub(super) fn time_at(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.epoch)
    }

    /// Whether the channel is being closed.
    pub(super) fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::SeqCst)
    }

    /// The channel is being closed.
    pub(super) fn close(&self) {
        self.is_closing.store(true, Ordering::SeqCst);
    }

    /// Whether a call's time is over.
    pub(super) fn is_late(&self, call: &Call) -> bool {
        match self.patience {
            Patience::Hard => false,
            Patience::Soft(_) => call.deadline.is_some_and(|deadline| Instant::now() >= deadline),
            Patience::WhileHeard(_) => self.core().is_late(call.xid, self.time()),
        }
    }

    /// A call that is not made yet.
    pub(super) fn prepare(&self, request: Request<'_>, now: Instant) -> CallFacts<Arc<Call>> {
        let volume = request.volume();
        let protection = request.protection.ok().flatten();
        let cover = protection.as_ref().map_or(ResultsCover::None, |protection| protection.cover());
        let Request { program, version, procedure, credentials, arguments, payload, tail, .. } = request;
        let xid = self.xid.fetch_add(1, Ordering::Relaxed);
        let header = CallHeader { xid, program, version, procedure, credentials };
        let (deadline, looks_again) = match self.patience {
            Patience::Hard => (None, None),
            Patience::Soft(patience) => (now.checked_add(patience), None),
            Patience::WhileHeard(_) => (None, Some(LOOK_AGAIN)),
        };
        let call = Call::new(Parts {
            xid,
            procedure: ProcedureId { program, version, procedure },
            class: request.class,
            replay: request.replay,
            volume,
            deadline,
            invites_calls: request.invites_calls,
            outgoing: Outgoing::new(&header, arguments, payload, tail),
            stamp: request.stamp,
            protection,
            looks_again,
        });
        let call = Arc::new(call.with_late(request.on_late));
        call.facts(request.receive, cover)
    }
}

/// How much may be in flight.
fn bounds(options: &ChannelOptions) -> Bounds {
    let bounds = Bounds {
        floor_bytes: FLOOR_BYTES,
        ceiling: CEILING,
        memory_budget: options.memory_budget,
        ..Bounds::default()
    };
    match options.in_flight {
        None => bounds,
        Some(count) => Bounds { floor: count.max(1), floor_bytes: 0, ceiling: count.max(1), ..bounds },
    }
}

/// Says what a person may want to know; `address` is that of a lane.
pub(super) fn log(notice: ChannelNotice, address: impl Fn(Option<usize>) -> SocketAddr) {
    let of = |lane| address(Some(lane));
    match notice {
        ChannelNotice::NotResponding(lane) => {
            tracing::warn!(server = %address(lane), "server not responding, still trying");
        }
        ChannelNotice::Refusing(lane) => {
            tracing::warn!(server = %address(lane), "server not responding: callers must try again later");
        }
        ChannelNotice::Responding(lane) => tracing::info!(server = %address(lane), "server ok"),
        ChannelNotice::PathLost(lane) => {
            tracing::warn!(server = %of(lane), "sent data does not arrive: trying a second connection");
        }
        ChannelNotice::PathBack(lane) => tracing::info!(server = %of(lane), "sent data arrives again"),
        ChannelNotice::Stuck(lane) => {
            tracing::warn!(lane, address = %of(lane), "stuck while other lanes deliver: its calls move to them");
        }
        ChannelNotice::StillStuck(lane) => tracing::debug!(lane, address = %of(lane), "still stuck"),
        ChannelNotice::Delivers(lane) => tracing::info!(lane, address = %of(lane), "delivers"),
        ChannelNotice::Silent(lane) => {
            tracing::warn!(lane, address = %of(lane), "no answer for a long time: reconnecting and retransmitting");
        }
        ChannelNotice::Lanes { before, now, why } => tracing::info!(before, now, "lanes: {now}, {why}"),
        ChannelNotice::SmallLane(_) => tracing::debug!("a lane for small calls, which would wait for bulk"),
    }
}

/// Why a call failed, for who made it.
pub(super) fn error_of(why: Failure) -> CallError {
    match why {
        Failure::TimedOut => CallError::TimedOut,
        Failure::Away => CallError::Away,
        Failure::Nonsense(error) => CallError::Nonsense(error),
        Failure::Closed => CallError::Closed,
    }
}
