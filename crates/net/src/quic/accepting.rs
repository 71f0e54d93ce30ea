//! A server's UDP port for QUIC: its connections are made by the thread, and their streams wait here to be accepted.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use howdah_quic::{ConnectionKey, Engine, EngineSecret, LostWhy, QuicEvent, StreamKey};
use howdah_tls::{CertificateFacts, ServerTls};

use super::bridge::pair;
use super::driver::{Driver, Owner, Work};
use super::lane::QuicLane;
use super::link::{Inbox, QuicLink, StreamState};
use super::readiness::QuicWakeup;
use super::socket::QuicSocket;
use crate::address::canonical;
use crate::path_mtu::path_mtu;
use crate::peer::{Ends, Peer, Transport, TransportSecurity};
use crate::stream::Stream;
use crate::udp::UdpSocket;

/// Streams that wait until a worker accepts them, each with two descriptors: workers accept at once, so only a flood has more. Further
/// streams are reset.
const WAITING_MAX: usize = 1024;

/// A UDP port that nobody serves yet.
#[derive(Debug)]
pub struct QuicPort {
    socket: UdpSocket,
    tls: ServerTls,
}

/// A UDP port that a thread serves. Readable: a stream waits to be accepted.
#[derive(Debug)]
pub struct QuicListener {
    address: SocketAddr,
    accepted: Arc<Accepted>,
    inbox: Arc<Inbox<Work>>,
    thread: Option<JoinHandle<()>>,
}

/// Streams that wait to be accepted.
#[derive(Debug)]
struct Accepted {
    streams: Mutex<VecDeque<Stream>>,
    readable: QuicWakeup,
}

/// What a server does for the thread.
struct Server {
    address: SocketAddr,
    tls: ServerTls,
    accepted: Arc<Accepted>,
    inbox: Arc<Inbox<Work>>,
    peers: HashMap<ConnectionKey, Peer>,
}

impl QuicPort {
    /// Binds it; port 0 takes any free port. Clients see the certificate of `tls`.
    ///
    /// # Errors
    /// What the host refuses.
    pub fn bind(address: SocketAddr, tls: ServerTls) -> io::Result<Self> {
        Ok(Self { socket: UdpSocket::bind(address)?, tls })
    }

    /// The address bound, with its real port.
    pub fn address(&self) -> SocketAddr {
        self.socket.address()
    }

    /// Serves it by a thread of its own. One is enough for a port: it only moves packets and bytes, and calls run on other threads.
    ///
    /// # Errors
    /// What the host refuses: descriptors, a thread.
    pub fn serve(self, secret: EngineSecret) -> io::Result<QuicListener> {
        let address = self.socket.address();
        let engine = Engine::server(secret, self.tls.quic_config(), mtu).map_err(io::Error::other)?;
        let accepted = Arc::new(Accepted { streams: Mutex::default(), readable: QuicWakeup::new()? });
        let inbox = Arc::new(Inbox::new()?);
        let owner = Server {
            address,
            tls: self.tls,
            accepted: Arc::clone(&accepted),
            inbox: Arc::clone(&inbox),
            peers: HashMap::new(),
        };
        let driver = Driver::new(engine, QuicSocket::new(self.socket), Arc::clone(&inbox), owner)?;
        let thread = std::thread::Builder::new().name("quic".to_owned()).spawn(move || driver.run())?;
        Ok(QuicListener { address, accepted, inbox, thread: Some(thread) })
    }
}

/// The longest packets to an address, as far as this host knows.
pub(super) fn mtu(to: SocketAddr) -> usize {
    path_mtu(canonical(to))
}

impl QuicListener {
    /// The address served, with its real port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next stream that waits; `None` if there is none.
    pub fn accept(&self) -> Option<Stream> {
        let mut streams = self.accepted.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let stream = streams.pop_front();
        if streams.is_empty() {
            self.accepted.readable.clear();
        }
        stream
    }
}

impl Drop for QuicListener {
    fn drop(&mut self) {
        self.inbox.push(Work::End);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl AsFd for QuicListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.accepted.readable.as_fd()
    }
}

impl Owner for Server {
    fn prepare(&mut self, engine: &mut Engine) {
        engine.renew(&self.tls.quic_config());
    }

    fn on_connected(&mut self, event: &QuicEvent, now: Instant) -> Option<Arc<QuicLink>> {
        let QuicEvent::Connected { connection, peer, local, certificates } = event else { return None };
        let certificate =
            certificates.first().and_then(|first| CertificateFacts::of_der(first)).map(Arc::new);
        let security = match certificate {
            Some(_) => TransportSecurity::TlsWithCertificate,
            None => TransportSecurity::Tls,
        };
        let server = SocketAddr::new(local.unwrap_or(self.address.ip()), self.address.port());
        let ends = Ends { client: canonical(*peer), server: canonical(server) };
        tracing::debug!(client = %ends.client, "connected by QUIC");
        self.peers.insert(*connection, Peer { ends, transport: Transport::Quic, security, certificate });
        let link = QuicLink::new(now);
        link.on_connected(None);
        Some(Arc::new(link))
    }

    fn on_opened(&mut self, stream: StreamKey, link: &Arc<QuicLink>) -> Option<(OwnedFd, Arc<StreamState>)> {
        let peer = self.peers.get(&stream.connection)?.clone();
        if self.accepted.streams.lock().unwrap_or_else(PoisonError::into_inner).len() >= WAITING_MAX {
            tracing::debug!(client = %peer.ends.client, "too many streams of QUIC wait to be accepted");
            return None;
        }
        let (ours, theirs) =
            pair().inspect_err(|error| tracing::warn!(%error, "taking a stream of QUIC in")).ok()?;
        let state = Arc::new(StreamState::new(Arc::clone(link)));
        let lane = QuicLane::accepted(Arc::clone(&state), stream.connection, Arc::clone(&self.inbox));
        let stream = Stream::of_quic(theirs, peer, lane);
        self.accepted.streams.lock().unwrap_or_else(PoisonError::into_inner).push_back(stream);
        self.accepted.readable.wake();
        Some((ours, state))
    }

    fn on_lost(&mut self, connection: ConnectionKey, why: &LostWhy) {
        match self.peers.remove(&connection) {
            Some(peer) => tracing::debug!(client = %peer.ends.client, %why, "QUIC connection over"),
            None => tracing::debug!(%why, "a QUIC handshake failed"),
        }
    }

    fn connection(&self) -> Option<ConnectionKey> {
        None
    }
}
