//! A client's connections of QUIC: one for each address of its server, which all lanes there share.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use howdah_quic::{ConnectionKey, Engine, EngineSecret, LostWhy, QuicEvent, StreamKey};
use howdah_tls::{CertificateFacts, ClientTls};
use rustix::rand::{GetRandomFlags, getrandom};

use super::accepting::mtu;
use super::bridge::pair;
use super::driver::{Driver, Owner, Work};
use super::lane::QuicLane;
use super::link::{Inbox, Phase, QuicLink, StreamState};
use super::socket::QuicSocket;
use super::words::in_words;
use crate::connect::{ConnectSettings, Connection, from_a_port};
use crate::path_mtu::own_address;
use crate::udp::UdpSocket;

/// Connects to servers by QUIC.
#[derive(Debug)]
pub struct QuicDialer {
    tls: ClientTls,
    /// The connections that there are.
    lines: Mutex<Vec<Arc<QuicLine>>>,
}

/// A connection, and its thread.
#[derive(Debug)]
pub(super) struct QuicLine {
    peer: SocketAddr,
    local: SocketAddr,
    link: Arc<QuicLink>,
    inbox: Arc<Inbox<Work>>,
    thread: Option<JoinHandle<()>>,
}

/// What a client does for the thread.
struct Client {
    connection: ConnectionKey,
    link: Arc<QuicLink>,
}

impl QuicDialer {
    /// For servers that prove to be who this expects.
    pub fn new(tls: ClientTls) -> Self {
        Self { tls, lines: Mutex::default() }
    }

    /// Opens a stream to a server, over the connection that there is, or else a new one.
    ///
    /// # Errors
    /// The server does not answer in time, does not prove to be who it should be, or refuses us.
    pub fn open(&self, address: SocketAddr, settings: &ConnectSettings) -> io::Result<Connection> {
        // Others that want a stream wait for the handshake, which is theirs as well.
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let former = lines.iter().position(|line| line.peer == address);
        if let Some(line) = former.map(|at| &lines[at]).filter(|line| !line.link.is_lost()) {
            return line.open(settings);
        }
        // Servers know calls that are sent again by the port of the connection that is lost, too.
        let from = former.map(|at| lines.swap_remove(at).local.port());
        let line = self.connect(address, &ConnectSettings { from, ..*settings })?;
        let opened = line.open(settings);
        lines.push(line);
        opened
    }

    fn connect(&self, address: SocketAddr, settings: &ConnectSettings) -> io::Result<Arc<QuicLine>> {
        let began = Instant::now();
        let any: IpAddr =
            if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let socket = from_a_port(settings, |port| UdpSocket::bind(SocketAddr::new(any, port.unwrap_or(0))))?;
        let local = SocketAddr::new(own_address(address)?, socket.address().port());
        let (config, name) = self.tls.quic_config();
        let mut secret = [0; 32];
        getrandom(&mut secret[..], GetRandomFlags::empty())?;
        let mut engine = Engine::client(EngineSecret(secret), mtu);
        let connection = engine.connect(began, address, (&config, &name)).map_err(io::Error::other)?;
        let (link, inbox) = (Arc::new(QuicLink::new(began)), Arc::new(Inbox::new()?));
        let owner = Client { connection, link: Arc::clone(&link) };
        let driver = Driver::new(engine, QuicSocket::new(socket), Arc::clone(&inbox), owner)?;
        let thread = std::thread::Builder::new().name("quic".to_owned()).spawn(move || driver.run())?;
        let line = Arc::new(QuicLine { peer: address, local, link, inbox, thread: Some(thread) });
        match line.link.wait(began + settings.timeout) {
            Phase::Connected => Ok(line),
            Phase::Lost(why) => Err(in_words(&why, address)),
            Phase::Connecting => Err(in_words(&LostWhy::Silence, address)),
        }
    }
}

impl QuicLine {
    fn open(self: &Arc<Self>, settings: &ConnectSettings) -> io::Result<Connection> {
        let (ours, theirs) = pair()?;
        let state = Arc::new(StreamState::new(Arc::clone(&self.link)));
        self.inbox.push(Work::Open(ours, Arc::clone(&state)));
        let lane = QuicLane::opened(state, self.peer, Arc::clone(self) as _);
        Connection::of_quic(theirs, (self.peer, self.local), settings.tick, lane)
    }
}

impl Drop for QuicLine {
    fn drop(&mut self) {
        self.inbox.push(Work::End);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Owner for Client {
    fn prepare(&mut self, _engine: &mut Engine) {}

    fn on_connected(&mut self, event: &QuicEvent, _now: Instant) -> Option<Arc<QuicLink>> {
        let QuicEvent::Connected { certificates, .. } = event else { return None };
        self.link.on_connected(certificates.first().and_then(|first| CertificateFacts::of_der(first)));
        Some(Arc::clone(&self.link))
    }

    fn on_opened(
        &mut self,
        _stream: StreamKey,
        _link: &Arc<QuicLink>,
    ) -> Option<(OwnedFd, Arc<StreamState>)> {
        None
    }

    fn on_lost(&mut self, _connection: ConnectionKey, why: &LostWhy) {
        self.link.on_lost(why.clone());
    }

    fn connection(&self) -> Option<ConnectionKey> {
        (!self.link.is_lost()).then_some(self.connection)
    }
}
