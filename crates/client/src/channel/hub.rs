//! What lanes and calls know of their channel: its options, its time, its window and its counts.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use howdah_net::{ConnectSettings, Connection};
use howdah_rpc::client::{Class, Outgoing, Reply};
use howdah_tls::CertificateFacts;
use howdah_wire::rpc::CallHeader;
use parking_lot::Mutex;

use super::absence::Absence;
use super::call::{Call, Kind, Parts};
use super::counters::Counters;
use super::lane::Lane;
use super::shared::Shared;
use super::window::Window;
use super::{
    Answer, CallError, ChannelOptions, Lanes, Patience, ProcedureReport, Request, sizes, starttls, tender,
};
use howdah_rpc::client::lanes::Place;

/// How long a server says nothing while calls wait before a person is told.
const COMPLAIN: Duration = Duration::from_secs(15);

/// How often a waiting call checks whether anything arrived from the server.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// What bulk calls came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Moved {
    pub(super) calls: u64,
    pub(super) bytes: u64,
    /// Of those, bytes that were written.
    pub(super) written: u64,
}

/// What lanes and calls know of their channel.
pub(super) struct Hub {
    options: ChannelOptions,
    pub(super) absence: Absence,
    pub(super) window: Window,
    /// Calls that may be in flight by now, and travel by datagrams.
    admitted: Mutex<VecDeque<Arc<Call>>>,
    counters: Counters,
    bulk_calls: AtomicU64,
    bulk_bytes: AtomicU64,
    written_bytes: AtomicU64,
    xid: AtomicU32,
    number: AtomicU64,
    links: AtomicU64,
    /// Program and version of the last call, in a half each.
    program: AtomicU64,
    epoch: Instant,
    is_closing: AtomicBool,
    /// A call was answered: the server speaks RPC.
    speaks_rpc: AtomicBool,
    /// When something was last received on any lane, in milliseconds.
    heard: AtomicU64,
    /// We said that the server does not respond.
    has_complained: AtomicBool,
    /// We said that the path to it is lost.
    pub(super) has_lost_path: AtomicBool,
    /// The lanes, if there are any.
    lanes: OnceLock<Weak<Shared>>,
}

impl Hub {
    /// Of a channel with these options.
    pub(super) fn new(options: ChannelOptions) -> Self {
        Self {
            absence: Absence::new(options.patience),
            window: Window::new(&options),
            admitted: Mutex::default(),
            options,
            counters: Counters::default(),
            bulk_calls: AtomicU64::new(0),
            bulk_bytes: AtomicU64::new(0),
            written_bytes: AtomicU64::new(0),
            // A server remembers calls by their xid, and this host may have had another channel to it a moment ago.
            xid: AtomicU32::new(RandomState::new().hash_one(std::process::id()) as u32),
            number: AtomicU64::new(0),
            links: AtomicU64::new(1),
            program: AtomicU64::new(0),
            epoch: Instant::now(),
            is_closing: AtomicBool::new(false),
            speaks_rpc: AtomicBool::new(false),
            heard: AtomicU64::new(0),
            has_complained: AtomicBool::new(false),
            has_lost_path: AtomicBool::new(false),
            lanes: OnceLock::new(),
        }
    }

    /// Calls travel over these lanes.
    pub(super) fn has_lanes(&self, shared: &Arc<Shared>) {
        let _ = self.lanes.set(Arc::downgrade(shared));
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

    /// Whether calls have deadlines.
    pub(super) fn is_soft(&self) -> bool {
        self.options.patience != Patience::Hard
    }

    /// Whether the time of some call may be over, or a person is to be told.
    pub(super) fn may_have_late_calls(&self) -> bool {
        match self.options.patience {
            Patience::Hard => !self.is_fresh(),
            Patience::Soft(_) => true,
            Patience::WhileHeard(_) => {
                self.absence.patience().is_some_and(|patience| self.quiet() >= patience / 2)
            }
        }
    }

    /// How long a server may say nothing while calls wait.
    pub(super) fn silence(&self) -> Duration {
        self.options.silence
    }

    /// Something was received.
    pub(super) fn on_heard(&self, server: SocketAddr, now: Duration) {
        self.heard.store(now.as_millis() as u64, Ordering::Relaxed);
        self.absence.on_heard();
        if self.has_complained.load(Ordering::Relaxed) && self.has_complained.swap(false, Ordering::Relaxed) {
            tracing::info!(%server, "server ok");
        }
    }

    /// Whether something was received lately.
    pub(super) fn is_fresh(&self) -> bool {
        self.quiet() < COMPLAIN
    }

    /// How long the server has been silent. Only after the log has reported it.
    pub(super) fn silent(&self) -> Option<Duration> {
        self.has_complained.load(Ordering::Relaxed).then(|| self.quiet())
    }

    fn quiet(&self) -> Duration {
        self.time().saturating_sub(Duration::from_millis(self.heard.load(Ordering::Relaxed)))
    }

    /// How long a call has waited without anything being heard.
    pub(super) fn quiet_for(&self, call: &Call) -> Duration {
        self.quiet().min(call.started.elapsed())
    }

    /// Whether a call's time is over.
    pub(super) fn is_late(&self, call: &Call) -> bool {
        call.is_late() || call.may_be_refused() && self.absence.is_too_long(self.quiet_for(call))
    }

    /// A call waits for so long: says so, once, if nothing at all was heard meanwhile.
    pub(super) fn complain(&self, server: SocketAddr, waited: Duration) {
        if waited >= COMPLAIN && !self.is_fresh() && !self.has_complained.swap(true, Ordering::Relaxed) {
            tracing::warn!(%server, "server not responding, still trying");
        }
    }

    /// The path below a lane is lost: says so, once for all lanes.
    pub(super) fn on_path_lost(&self, server: SocketAddr) {
        if !self.has_lost_path.swap(true, Ordering::Relaxed) {
            tracing::warn!(%server, "sent data does not arrive: trying a second connection");
        }
    }

    /// One of them has a path again.
    pub(super) fn on_path_back(&self, server: SocketAddr) {
        if self.has_lost_path.swap(false, Ordering::Relaxed) {
            tracing::info!(%server, "sent data arrives again");
        }
    }

    /// When a call that starts now is given up.
    pub(super) fn deadline(&self, now: Instant) -> Option<Instant> {
        match self.options.patience {
            Patience::Hard | Patience::WhileHeard(_) => None,
            Patience::Soft(patience) => now.checked_add(patience),
        }
    }

    /// How to connect.
    pub(super) fn connect_settings(&self) -> ConnectSettings {
        let tick = match self.options.patience {
            Patience::Soft(patience) => patience.max(Duration::from_millis(1)),
            Patience::Hard | Patience::WhileHeard(_) => Duration::MAX,
        };
        ConnectSettings {
            timeout: self.options.connect_timeout,
            silence: self.options.silence,
            reserved_port: self.options.reserved_port,
            from: None,
            tick: tender::RECEIVE_TICK.min(tick),
            window: sizes::first_window(self.options.memory_budget as u64),
        }
    }

    /// Connects, and secures the connection if it is to be.
    pub(super) fn open(&self, address: SocketAddr, settings: &ConnectSettings) -> io::Result<Connection> {
        Connection::open(address, settings).and_then(|connection| self.secure(connection))
    }

    /// Secures a connection that was just made, if it is to be.
    pub(super) fn secure(&self, connection: Connection) -> io::Result<Connection> {
        match &self.options.tls {
            None => Ok(connection),
            Some((tls, program)) => {
                starttls::secure(connection, tls, *program, Instant::now() + self.options.connect_timeout)
            }
        }
    }

    /// What the certificate says by which we prove who we are, if we have one.
    pub(super) fn own_certificate(&self) -> Option<&CertificateFacts> {
        self.options.tls.as_ref()?.0.certificate()
    }

    /// Whether what is found of the path is remembered.
    pub(super) fn remembers_path(&self) -> bool {
        self.options.remembers_path
    }

    /// The transfer size to begin with over datagrams.
    pub(super) fn first_transfer(&self) -> Option<usize> {
        self.options.first_transfer
    }

    /// A program that is called, and its version.
    pub(super) fn program(&self) -> Option<(u32, u32)> {
        let program = self.program.load(Ordering::Relaxed);
        (program != 0).then_some(((program >> 32) as u32, program as u32))
    }

    /// The number of the next connection.
    pub(super) fn next_link(&self) -> u64 {
        self.links.fetch_add(1, Ordering::Relaxed)
    }

    /// How many lanes were asked for.
    pub(super) fn lanes(&self) -> Lanes {
        self.options.lanes
    }

    /// Bulk calls that were answered, and the bytes that they moved, of all time.
    pub(super) fn moved(&self) -> Moved {
        let get = |sum: &AtomicU64| sum.load(Ordering::Relaxed);
        let (calls, written) = (get(&self.bulk_calls), get(&self.written_bytes));
        Moved { calls, bytes: get(&self.bulk_bytes), written }
    }

    /// Makes a call that is not sent yet, for this lane.
    pub(super) fn prepare(
        &self,
        request: Request<'_>,
        volume: usize,
        place: Place,
        started: Instant,
        lane: Option<Arc<Lane>>,
    ) -> Call {
        let Request { program, version, procedure, credentials, arguments, payload, receive, class, replay } =
            request;
        self.program.store(u64::from(program) << 32 | u64::from(version), Ordering::Relaxed);
        let xid = self.xid.fetch_add(1, Ordering::Relaxed);
        let header = CallHeader { xid, program, version, procedure, credentials };
        let parts = Parts {
            xid,
            number: self.number.fetch_add(1, Ordering::Relaxed),
            kind: Kind { program, version, procedure },
            class,
            replay,
            outgoing: Outgoing::new(&header, arguments, payload),
            volume,
            receive,
            place,
            started,
            deadline: self.deadline(started),
            looks_again: self.absence.patience().map(|_| LOOK_AGAIN),
        };
        Call::new(parts, lane)
    }

    /// A call is sent, so many times before.
    pub(super) fn on_send(&self, call: &Call, before: u32) {
        if before > 0 {
            tracing::debug!(xid = call.xid, kind = ?call.kind, replay = ?call.replay, before, "sending again");
        }
        self.counters.on_send(call.kind, before);
    }

    /// Whether a call was ever answered.
    pub(super) fn speaks_rpc(&self) -> bool {
        self.speaks_rpc.load(Ordering::Relaxed)
    }

    /// A reply came.
    pub(super) fn on_reply(&self, call: &Call, reply: Reply, now: Instant) {
        self.speaks_rpc.store(true, Ordering::Relaxed);
        let answer = Answer::from_reply(reply, call.sends() > 1);
        self.finish(call, answer, now);
    }

    /// A call's time is over.
    pub(super) fn give_up(&self, lane: &Lane, call: &Call) {
        let Some(error) = self.lateness(call, lane.address()) else { return };
        let now = Instant::now();
        lane.give_up(call.xid, now);
        self.finish(call, Err(error), now);
        // It may have been on its way to another lane.
        if let Some(other) = call.lane() {
            other.give_up(call.xid, now);
        }
        lane.flush(None, now);
    }

    /// The outcome of a call whose time is over; none for a change that was sent meanwhile, and is to be waited for.
    pub(super) fn lateness(&self, call: &Call, server: SocketAddr) -> Option<CallError> {
        if call.is_late() {
            return Some(CallError::TimedOut);
        }
        if !call.refuse() {
            return None;
        }
        if self.absence.on_refused() && !self.has_complained.swap(true, Ordering::Relaxed) {
            tracing::warn!(%server, "server not responding: callers must try again later");
        }
        Some(CallError::Away)
    }

    /// A call is over: gives its place to another, and its outcome to who waits.
    pub(super) fn finish(&self, call: &Call, outcome: Result<Answer, CallError>, now: Instant) {
        let took = now.saturating_duration_since(call.started);
        tracing::trace!(xid = call.xid, kind = ?call.kind, class = ?call.class, ?took, is_ok = outcome.is_ok(), "over");
        let moved = outcome.as_ref().ok().map(|answer| match &answer.received {
            Some((_, count)) => *count,
            None => call.volume,
        });
        let Some(place) = call.finish(outcome) else { return };
        match moved {
            Some(bytes) => {
                self.counters.on_answer(call.kind, took);
                if call.class.is_bulk() {
                    self.bulk_calls.fetch_add(1, Ordering::Relaxed);
                    self.bulk_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
                    let written = if call.class == Class::Write { bytes } else { 0 };
                    self.written_bytes.fetch_add(written as u64, Ordering::Relaxed);
                }
            }
            None => self.counters.on_error(call.kind),
        }
        let lane = call.lane();
        for next in self.window.leave(place, moved, self.time_at(now)) {
            let Some(other) = next.lane() else {
                self.admitted.lock().push_back(next);
                continue;
            };
            let shared = self.lanes.get().and_then(Weak::upgrade);
            let other = shared.map_or_else(|| Arc::clone(&other), |shared| shared.settle(&next, &other, now));
            let is_other = lane.as_ref().is_none_or(|lane| !Arc::ptr_eq(lane, &other));
            other.ready.lock().push_back(next);
            if is_other {
                // Who ends a call sends what may go on its own lane then.
                other.bell.ring();
            }
        }
    }

    /// A call that may be in flight by now, and travels by datagrams.
    pub(super) fn next_admitted(&self) -> Option<Arc<Call>> {
        self.admitted.lock().pop_front()
    }

    /// What was called, and what became of it.
    pub(super) fn procedures(&self) -> Vec<ProcedureReport> {
        self.counters.report()
    }
}
