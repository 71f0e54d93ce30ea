//! One lane: the calls that it carries, and the connection that it has, if it has one.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use howdah_rpc::client::{Claim, PeerError};
use parking_lot::Mutex;

use super::CallError;
use super::bell::Bell;
use super::call::Call;
use super::evidence::Evidence;
use super::hub::Hub;
use super::link::Link;
use super::spare::Spare;
use super::{LaneReport, TlsReport};
use howdah_rpc::client::lanes::Facts;
use howdah_rpc::client::lanes::Meter;

/// How often a server may answer with what is no reply before a call is over.
const NONSENSE_MAX: u32 = 3;

/// A lane.
pub(super) struct Lane {
    pub(super) index: usize,
    pub(super) hub: Arc<Hub>,
    /// The server's addresses, and which of them it connects to: another one after each failure.
    addresses: Arc<[SocketAddr]>,
    at: AtomicUsize,
    /// Calls that may go out, in order.
    pub(super) ready: Mutex<VecDeque<Arc<Call>>>,
    /// Held by who sends.
    pub(super) order: Mutex<()>,
    table: Mutex<Table>,
    /// What it delivers. Its lock may be asked for while the table's is held, never the other way round.
    pub(super) meter: Mutex<Meter>,
    /// How often it was connected, and bytes received over connections that are gone.
    connections: AtomicU64,
    received_before: AtomicU64,
    /// Calls of the threads that wait for another one to receive.
    pub(super) followers: Mutex<Vec<Arc<Call>>>,
    /// Calls that are carried, and how many of them have a buffer for data.
    calls: AtomicUsize,
    wants_data: AtomicUsize,
    /// Somebody waits who cannot receive: the tender must.
    pub(super) is_urgent: AtomicBool,
    /// It was stuck, or is new beside others, and has delivered nothing since: others are used before it.
    pub(super) is_suspect: AtomicBool,
    /// What limits it now, if it is known.
    pub(super) evidence: Mutex<Option<Evidence>>,
    /// Another connection, for when the path below its own is lost.
    pub(super) spare: Spare,
    /// Wakes the tender.
    pub(super) bell: Bell,
}

#[derive(Default)]
struct Table {
    calls: HashMap<u32, Carried>,
    link: Option<Arc<Link>>,
}

/// A call, and whether it may go out: until then it is nothing that the lane has to deliver.
struct Carried {
    call: Arc<Call>,
    is_admitted: bool,
}

impl Lane {
    /// A lane that is not connected.
    pub(super) fn new(index: usize, addresses: Arc<[SocketAddr]>, hub: Arc<Hub>) -> Self {
        Self {
            index,
            hub,
            addresses,
            at: AtomicUsize::new(index),
            ready: Mutex::default(),
            order: Mutex::new(()),
            table: Mutex::default(),
            meter: Mutex::default(),
            connections: AtomicU64::new(0),
            received_before: AtomicU64::new(0),
            followers: Mutex::default(),
            calls: AtomicUsize::new(0),
            wants_data: AtomicUsize::new(0),
            is_urgent: AtomicBool::new(false),
            is_suspect: AtomicBool::new(false),
            evidence: Mutex::default(),
            spare: Spare::default(),
            bell: Bell::default(),
        }
    }

    /// Whereto it connects.
    pub(super) fn address(&self) -> SocketAddr {
        self.address_after(0)
    }

    /// Whereto it would connect after so many failures.
    pub(super) fn address_after(&self, failures: usize) -> SocketAddr {
        self.addresses[self.at.load(Ordering::Relaxed).wrapping_add(failures) % self.addresses.len()]
    }

    /// It is connected there now.
    pub(super) fn set_address(&self, address: SocketAddr) {
        if let Some(at) = self.addresses.iter().position(|one| *one == address) {
            self.at.store(at, Ordering::Relaxed);
        }
    }

    /// Nobody is there: it tries the next address.
    pub(super) fn turn_away(&self) {
        self.at.fetch_add(1, Ordering::Relaxed);
    }

    /// Its connection.
    pub(super) fn link(&self) -> Option<Arc<Link>> {
        self.table.lock().link.clone()
    }

    /// Its connection, if that is of use.
    pub(super) fn live_link(&self) -> Option<Arc<Link>> {
        self.link().filter(|link| !link.is_broken())
    }

    /// It has another connection now, or none.
    pub(super) fn set_link(&self, link: Option<Arc<Link>>) {
        self.connections.fetch_add(u64::from(link.is_some()), Ordering::Relaxed);
        let before = std::mem::replace(&mut self.table.lock().link, link);
        let received = before.map_or(0, |link| link.received());
        self.received_before.fetch_add(received, Ordering::Relaxed);
    }

    /// Carries a call from now on.
    pub(super) fn enter(&self, call: &Arc<Call>) {
        let carried = Carried { call: Arc::clone(call), is_admitted: false };
        let before = self.table.lock().calls.insert(call.xid, carried);
        if before.is_none() {
            self.calls.fetch_add(1, Ordering::SeqCst);
            self.wants_data.fetch_add(usize::from(call.wants_data), Ordering::Relaxed);
        }
    }

    /// A call may go out from now on, if it still carries it.
    pub(super) fn on_admitted(&self, call: &Call, now: Instant) {
        let mut table = self.table.lock();
        if let Some(carried) = table.calls.get_mut(&call.xid)
            && !std::mem::replace(&mut carried.is_admitted, true)
        {
            self.meter.lock().on_start(self.hub.time_at(now), call.volume);
        }
    }

    /// Carries a call no more, since it is answered.
    pub(super) fn on_answered(&self, xid: u32, now: Instant) -> Option<Arc<Call>> {
        self.remove(xid, now, |call| Some(now.saturating_duration_since(call.started)))
    }

    /// Carries a call no more, which was not answered.
    pub(super) fn give_up(&self, xid: u32, now: Instant) -> Option<Arc<Call>> {
        self.remove(xid, now, |_| None)
    }

    fn remove(
        &self,
        xid: u32,
        now: Instant,
        took: impl FnOnce(&Call) -> Option<Duration>,
    ) -> Option<Arc<Call>> {
        let mut table = self.table.lock();
        let Carried { call, is_admitted } = table.calls.remove(&xid)?;
        if is_admitted {
            self.meter.lock().on_finish(self.hub.time_at(now), call.volume, took(&call));
        }
        self.calls.fetch_sub(1, Ordering::SeqCst);
        self.wants_data.fetch_sub(usize::from(call.wants_data), Ordering::Relaxed);
        Some(call)
    }

    /// The call of that xid.
    pub(super) fn find(&self, xid: u32) -> Option<Arc<Call>> {
        self.table.lock().calls.get(&xid).map(|carried| Arc::clone(&carried.call))
    }

    /// Whether it carries a call.
    pub(super) fn carries(&self, call: &Arc<Call>) -> bool {
        self.table.lock().calls.contains_key(&call.xid)
    }

    /// What is known of an xid that a reply bears.
    pub(super) fn claim(&self, xid: u32) -> Claim {
        self.find(xid).map_or(Claim::Unknown, |call| Claim::Call(call.take_receive()))
    }

    /// The calls that it carries, in the order in which they were made.
    pub(super) fn calls(&self) -> Vec<Arc<Call>> {
        let table = self.table.lock();
        let mut calls: Vec<_> = table.calls.values().map(|carried| Arc::clone(&carried.call)).collect();
        drop(table);
        calls.sort_unstable_by_key(|call| call.number);
        calls
    }

    /// How many calls it carries.
    pub(super) fn load(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// Whether calls that may go out wait for the socket to take them.
    pub(super) fn has_unsent(&self) -> bool {
        !self.ready.lock().is_empty() || self.order.is_locked()
    }

    /// Whether it delivers what it is given.
    pub(super) fn delivers(&self) -> bool {
        self.live_link().is_some() && !self.is_suspect.load(Ordering::Relaxed)
    }

    /// Whether a reply may bring data for a caller's buffer.
    pub(super) fn expects_data(&self) -> bool {
        self.wants_data.load(Ordering::Relaxed) > 0
    }

    /// What there is to judge it by.
    pub(super) fn facts(&self, others_heard: Option<Duration>) -> Option<Facts> {
        let link = self.live_link()?;
        let oldest =
            self.calls().into_iter().filter(|call| call.sends() > 0).min_by_key(|call| call.sent_at());
        Some(Facts {
            now: self.hub.time(),
            heard: link.heard(),
            waiting: oldest.map(|call| (call.sent_at().elapsed(), call.sends())),
            usual: self.meter.lock().usual(),
            others_heard,
            silence: self.hub.silence(),
        })
    }

    /// What the server sends is no reply. Sending the calls again may help, unless it never spoke RPC; calls for which it did
    /// not help are over.
    pub(super) fn on_nonsense(&self, error: PeerError) {
        let now = Instant::now();
        let is_hopeless = matches!(error, PeerError::NotRpc(_)) && !self.hub.speaks_rpc();
        for call in self.calls() {
            if (call.on_nonsense() >= NONSENSE_MAX || is_hopeless) && self.give_up(call.xid, now).is_some() {
                self.hub.finish(&call, Err(CallError::Nonsense(error)), now);
            }
        }
    }

    /// Gives up calls whose time is over, and says so if the others wait for long. Gives how long the oldest has waited without
    /// anything being heard.
    pub(super) fn look_after_calls(&self) -> Duration {
        let hub = &self.hub;
        if self.load() == 0 || !hub.may_have_late_calls() {
            return Duration::ZERO;
        }
        let calls = self.calls();
        let quiet = calls.first().map_or(Duration::ZERO, |oldest| {
            hub.complain(self.address(), oldest.started.elapsed());
            hub.quiet_for(oldest)
        });
        calls.iter().filter(|call| hub.is_late(call)).for_each(|call| hub.give_up(self, call));
        quiet
    }

    /// TLS on its connection, while it has one.
    pub(super) fn tls(&self) -> Option<TlsReport> {
        let (suite, certificate) = self.live_link()?.connection.tls_facts()?;
        let own = self.hub.own_certificate().cloned();
        Some(TlsReport { suite, certificate, own })
    }

    /// The lane as it is now.
    pub(super) fn report(&self) -> LaneReport {
        let (link, meter) = (self.live_link(), *self.meter.lock());
        let received = link.as_ref().map_or(0, |link| link.received());
        LaneReport {
            server: self.address(),
            local: link.map(|link| link.connection.local()),
            round_trip: meter.round_trip(),
            rate: meter.rate(),
            calls: self.load(),
            received: received + self.received_before.load(Ordering::Relaxed),
            connections: self.connections.load(Ordering::Relaxed),
        }
    }
}
