//! What streams and their connection know of each other: they are on different threads.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use howdah_quic::{ConnectionFacts, LostWhy};
use howdah_tls::CertificateFacts;

use super::readiness::QuicWakeup;
use super::socket::QuicSocketFacts;

/// How often facts are passed on while something moves.
const TOLD: Duration = Duration::from_millis(10);

/// A connection, for those who have a stream of it.
#[derive(Debug)]
pub(super) struct QuicLink {
    state: Mutex<LinkState>,
    changed: Condvar,
    /// The peer has been at another address.
    has_moved: AtomicBool,
    /// Bytes in flight, as it is now.
    flight: AtomicU64,
    /// Milliseconds from `began` to when a packet of the peer last came.
    heard: AtomicU64,
    began: Instant,
}

#[derive(Debug, Default)]
struct LinkState {
    phase: Phase,
    facts: ConnectionFacts,
    socket: QuicSocketFacts,
    told: Option<Instant>,
    peer: Option<SocketAddr>,
    certificate: Option<Arc<CertificateFacts>>,
}

/// Where a connection stands.
#[derive(Debug, Clone, Default)]
pub(super) enum Phase {
    #[default]
    Connecting,
    Connected,
    Lost(LostWhy),
}

/// A stream, for both of its ends.
#[derive(Debug)]
pub(super) struct StreamState {
    /// The connection that it belongs to.
    pub(super) link: Arc<QuicLink>,
    /// Ours gives it up: what was not sent is not to be sent any more.
    cut: AtomicBool,
    /// The peer gave it up, or the connection is lost.
    reset: AtomicBool,
    /// Bytes that were given to the pair of sockets, and that the connection has taken.
    given: AtomicU64,
    taken: AtomicU64,
    /// Bytes that came.
    received: AtomicU64,
}

impl QuicLink {
    pub(super) fn new(began: Instant) -> Self {
        let (state, changed, has_moved, flight, heard) = Default::default();
        Self { state, changed, has_moved, flight, heard, began }
    }

    fn state(&self) -> MutexGuard<'_, LinkState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The handshake is done.
    pub(super) fn on_connected(&self, certificate: Option<CertificateFacts>) {
        let mut state = self.state();
        state.phase = Phase::Connected;
        state.certificate = certificate.map(Arc::new);
        self.changed.notify_all();
    }

    pub(super) fn on_lost(&self, why: LostWhy) {
        self.state().phase = Phase::Lost(why);
        self.changed.notify_all();
    }

    pub(super) fn on_moved(&self, peer: SocketAddr) {
        self.state().peer = Some(peer);
        self.has_moved.store(true, Ordering::SeqCst);
    }

    /// The connection has done something: what is in flight is known at once, all else now and then.
    pub(super) fn on_active(
        &self,
        now: Instant,
        facts: &ConnectionFacts,
        socket: impl FnOnce() -> QuicSocketFacts,
    ) {
        self.flight.store(facts.flight, Ordering::SeqCst);
        let mut state = self.state();
        if facts.packets_received != state.facts.packets_received {
            let since = now.saturating_duration_since(self.began).as_millis();
            self.heard.store(u64::try_from(since).unwrap_or(u64::MAX), Ordering::Relaxed);
        }
        state.facts = *facts;
        if state.told.is_none_or(|told| now.saturating_duration_since(told) >= TOLD) {
            state.told = Some(now);
            state.socket = socket();
        }
    }

    /// Waits until it is connected or lost, until `deadline` at most.
    pub(super) fn wait(&self, deadline: Instant) -> Phase {
        let mut state = self.state();
        while matches!(state.phase, Phase::Connecting) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.phase.clone()
    }

    pub(super) fn phase(&self) -> Phase {
        self.state().phase.clone()
    }

    pub(super) fn is_lost(&self) -> bool {
        matches!(self.state().phase, Phase::Lost(_))
    }

    pub(super) fn facts(&self) -> (ConnectionFacts, QuicSocketFacts) {
        let state = self.state();
        (ConnectionFacts { flight: self.flight(), ..state.facts }, state.socket)
    }

    pub(super) fn certificate(&self) -> Option<Arc<CertificateFacts>> {
        self.state().certificate.clone()
    }

    /// Where the peer has moved to, if it has.
    pub(super) fn moved_to(&self) -> Option<SocketAddr> {
        if self.has_moved.load(Ordering::SeqCst) { self.state().peer } else { None }
    }

    pub(super) fn flight(&self) -> u64 {
        self.flight.load(Ordering::SeqCst)
    }

    /// How long ago a packet of the peer came.
    pub(super) fn since_heard(&self, now: Instant) -> Duration {
        let heard = self.began + Duration::from_millis(self.heard.load(Ordering::Relaxed));
        now.saturating_duration_since(heard)
    }
}

impl StreamState {
    pub(super) fn new(link: Arc<QuicLink>) -> Self {
        let (cut, reset, given, taken, received) = Default::default();
        Self { link, cut, reset, given, taken, received }
    }

    pub(super) fn cut(&self) {
        self.cut.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_cut(&self) -> bool {
        self.cut.load(Ordering::SeqCst)
    }

    pub(super) fn on_reset(&self) {
        self.reset.store(true, Ordering::SeqCst);
    }

    pub(super) fn was_reset(&self) -> bool {
        self.reset.load(Ordering::SeqCst)
    }

    pub(super) fn give(&self, bytes: usize) {
        self.given.fetch_add(bytes as u64, Ordering::SeqCst);
    }

    pub(super) fn take(&self, bytes: usize) {
        self.taken.fetch_add(bytes as u64, Ordering::SeqCst);
    }

    pub(super) fn receive(&self, bytes: usize) {
        self.received.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Bytes that the connection has taken, those that wait for it, and those that came.
    pub(super) fn counts(&self) -> (u64, u64, u64) {
        let taken = self.taken.load(Ordering::SeqCst);
        let given = self.given.load(Ordering::SeqCst);
        (taken, given.saturating_sub(taken), self.received.load(Ordering::Relaxed))
    }
}

/// Work for the thread, and what wakes it.
#[derive(Debug)]
pub(super) struct Inbox<T> {
    work: Mutex<Vec<T>>,
    pub(super) wakeup: QuicWakeup,
}

impl<T> Inbox<T> {
    pub(super) fn new() -> std::io::Result<Self> {
        Ok(Self { work: Mutex::default(), wakeup: QuicWakeup::new()? })
    }

    pub(super) fn push(&self, work: T) {
        self.work.lock().unwrap_or_else(PoisonError::into_inner).push(work);
        self.wakeup.wake();
    }

    pub(super) fn take(&self) -> Vec<T> {
        self.wakeup.clear();
        std::mem::take(&mut *self.work.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
