//! All connections of one UDP port: datagrams, time and the bytes of streams go in, datagrams and events come out.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use quinn_proto::{
    Connection, ConnectionHandle, DatagramEvent, Endpoint, Event, Incoming, ServerConfig, StreamEvent,
    Transmit, VarInt,
};
use quinn_proto::{Dir, StreamId};
use rustls::pki_types::CertificateDer;

use crate::admission::{ClientJudgement, QuicClients};
use crate::event::{ConnectionKey, LostWhy, QuicEvent, StreamKey};
use crate::facts::{ConnectionFacts, FlightCount};
use crate::limits::{CONNECTION_WINDOW, HANDSHAKE_PATIENCE, MOVES_MAX};
use crate::settings::{self, EngineSecret, SettingsError};

/// Answers to datagrams of no connection that wait to be sent.
const ANSWERS_MAX: usize = 256;
/// The most that is sent at once, in bytes.
const SENT_AT_ONCE: usize = 65_000;

/// All connections of one port.
pub struct Engine {
    endpoint: Endpoint,
    secret: EngineSecret,
    server: Option<Server>,
    /// Tells how long packets to an address may be.
    path_mtu: fn(SocketAddr) -> usize,
    entries: HashMap<ConnectionHandle, Entry>,
    /// Connections that may have something to send or to tell.
    busy: VecDeque<ConnectionHandle>,
    timers: BinaryHeap<Reverse<(Instant, usize)>>,
    /// Datagrams that belong to no connection.
    answers: VecDeque<(Transmit, Vec<u8>)>,
    events: VecDeque<QuicEvent>,
    /// Connections that did something since somebody asked.
    active: VecDeque<ConnectionHandle>,
}

/// What a server has besides.
struct Server {
    tls: Arc<rustls::ServerConfig>,
    config: ServerConfig,
    admitted: QuicClients,
}

/// A connection.
pub(crate) struct Entry {
    pub(crate) connection: Connection,
    flight: Arc<FlightCount>,
    /// Where the peer was at first, and is now.
    first: SocketAddr,
    peer: SocketAddr,
    moves: usize,
    window: u64,
    /// Until when the handshake must be done; `None`: it is.
    deadline: Option<Instant>,
    is_lost: bool,
    is_busy: bool,
    is_active: bool,
    timer: Option<Instant>,
}

impl Engine {
    /// A server's, which takes connections.
    ///
    /// # Errors
    /// TLS lacks what QUIC needs.
    pub fn server(
        secret: EngineSecret,
        tls: Arc<rustls::ServerConfig>,
        path_mtu: fn(SocketAddr) -> usize,
    ) -> Result<Self, SettingsError> {
        let config = secret.server(&tls)?;
        let mut engine = Self::client(secret, path_mtu);
        engine.endpoint.set_server_config(Some(Arc::new(config.clone())));
        engine.server = Some(Server { tls, config, admitted: QuicClients::default() });
        Ok(engine)
    }

    /// A client's, which makes them.
    pub fn client(secret: EngineSecret, path_mtu: fn(SocketAddr) -> usize) -> Self {
        let endpoint = Endpoint::new(Arc::new(secret.endpoint()), None, true, None);
        let (entries, busy, timers, answers, events, active) = Default::default();
        Self { endpoint, secret, server: None, path_mtu, entries, busy, timers, answers, events, active }
    }

    /// Connections that are made from now on see this certificate.
    pub fn renew(&mut self, tls: &Arc<rustls::ServerConfig>) {
        let Some(server) = self.server.as_mut().filter(|server| !Arc::ptr_eq(&server.tls, tls)) else {
            return;
        };
        match self.secret.server(tls) {
            Ok(config) => {
                self.endpoint.set_server_config(Some(Arc::new(config.clone())));
                (server.tls, server.config) = (Arc::clone(tls), config);
            }
            Err(error) => tracing::warn!(%error, "renewing the certificate for QUIC"),
        }
    }

    /// Begins to connect to a server that must prove to be `name`.
    ///
    /// # Errors
    /// TLS lacks what QUIC needs, or there is no such address.
    pub fn connect(
        &mut self,
        now: Instant,
        peer: SocketAddr,
        (tls, name): (&rustls::ClientConfig, &str),
    ) -> Result<ConnectionKey, SettingsError> {
        let flight = Arc::<FlightCount>::default();
        let transport = settings::client_transport(&flight, CONNECTION_WINDOW, (self.path_mtu)(peer));
        let config = settings::client(tls, transport)?;
        let begun = self.endpoint.connect(now, config, peer, name);
        let (handle, connection) = begun.map_err(|error| SettingsError::of(&error))?;
        self.insert(handle, Entry::new(connection, flight, peer, CONNECTION_WINDOW, None));
        Ok(ConnectionKey(handle))
    }

    /// A datagram came, from a peer to one of our addresses.
    pub fn on_datagram(&mut self, now: Instant, from: SocketAddr, to: Option<IpAddr>, datagram: BytesMut) {
        let mut answer = Vec::new();
        // A client sends from whatever address leads to its server: that may change.
        let to = to.filter(|_| self.server.is_some());
        match self.endpoint.handle(now, from, to, None, datagram, &mut answer) {
            None => {}
            Some(DatagramEvent::Response(transmit)) => self.answer(transmit, answer),
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                if let Some(entry) = self.entries.get_mut(&handle) {
                    entry.connection.handle_event(event);
                    // Before anybody reads what came from there.
                    self.follow_peer(now, handle);
                    self.touch(handle);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.on_incoming(now, incoming),
        }
    }

    /// Answers a datagram of no connection. Strangers who send more than is answered get nothing: each answer costs memory.
    fn answer(&mut self, transmit: Transmit, bytes: Vec<u8>) {
        if self.answers.len() < ANSWERS_MAX {
            self.answers.push_back((transmit, bytes));
        }
    }

    fn on_incoming(&mut self, now: Instant, incoming: Incoming) {
        let Some(server) = &mut self.server else { return self.endpoint.ignore(incoming) };
        let (client, is_proved) = (incoming.remote_address(), incoming.remote_address_validated());
        let mut answer = Vec::new();
        match server.admitted.judge(client, is_proved) {
            ClientJudgement::Accept(window) => self.accept(now, incoming, window),
            ClientJudgement::Prove if incoming.may_retry() => {
                if let Ok(transmit) = self.endpoint.retry(incoming, &mut answer) {
                    self.answer(transmit, answer);
                }
            }
            ClientJudgement::Prove | ClientJudgement::Refuse => {
                tracing::debug!(%client, "turned away: too many connections or handshakes");
                let transmit = self.endpoint.refuse(incoming, &mut answer);
                self.answer(transmit, answer);
            }
        }
    }

    fn accept(&mut self, now: Instant, incoming: Incoming, window: u64) {
        let Some(server) = &mut self.server else { return };
        let (client, flight) = (incoming.remote_address(), Arc::<FlightCount>::default());
        let mut config = server.config.clone();
        config.transport_config(Arc::new(settings::transport(&flight, window, (self.path_mtu)(client))));
        let mut answer = Vec::new();
        match self.endpoint.accept(incoming, now, &mut answer, Some(Arc::new(config))) {
            Ok((handle, connection)) => {
                server.admitted.begin(client, window);
                let deadline = Some(now + HANDSHAKE_PATIENCE);
                self.insert(handle, Entry::new(connection, flight, client, window, deadline));
            }
            Err(error) => {
                tracing::debug!(%client, cause = %error.cause, "a handshake failed");
                if let Some(transmit) = error.response {
                    self.answer(transmit, answer);
                }
            }
        }
    }

    fn insert(&mut self, handle: ConnectionHandle, entry: Entry) {
        self.entries.insert(handle, entry);
        self.touch(handle);
    }

    /// The connection is looked at before anything is waited for.
    fn touch(&mut self, handle: ConnectionHandle) {
        if let Some(entry) = self.entries.get_mut(&handle)
            && !std::mem::replace(&mut entry.is_busy, true)
        {
            self.busy.push_back(handle);
        }
    }

    /// When [`Self::on_time`] is to be called, if nothing happens before.
    pub fn poll_timeout(&mut self) -> Option<Instant> {
        while let Some(&Reverse((at, index))) = self.timers.peek() {
            let entry = self.entries.get(&ConnectionHandle(index));
            if entry.is_some_and(|entry| entry.timer == Some(at)) {
                return Some(at);
            }
            self.timers.pop();
        }
        None
    }

    /// Time has passed.
    pub fn on_time(&mut self, now: Instant) {
        while let Some(at) = self.poll_timeout().filter(|at| *at <= now) {
            let Some(Reverse((_, index))) = self.timers.pop() else { return };
            let handle = ConnectionHandle(index);
            let Some(entry) = self.entries.get_mut(&handle) else { continue };
            entry.timer = None;
            if entry.deadline.is_some_and(|deadline| deadline <= now) && !entry.is_lost {
                self.close_for(now, handle, "the handshake took too long");
            } else if entry.connection.poll_timeout().is_some_and(|due| due <= now.max(at)) {
                entry.connection.handle_timeout(now);
            }
            self.touch(handle);
        }
    }

    /// What is to be sent, in `buffer`, which is cleared first: up to `most` datagrams of one length to one peer.
    pub fn poll_transmit(&mut self, now: Instant, most: usize, buffer: &mut Vec<u8>) -> Option<Transmit> {
        buffer.clear();
        if let Some((transmit, mut bytes)) = self.answers.pop_front() {
            buffer.append(&mut bytes);
            return Some(transmit);
        }
        while let Some(handle) = self.busy.pop_front() {
            let Some(entry) = self.entries.get_mut(&handle) else { continue };
            // One call of a socket sends 64 KiB at most.
            let most = most.min(SENT_AT_ONCE / usize::from(entry.connection.current_mtu())).max(1);
            if let Some(transmit) = entry.connection.poll_transmit(now, most, buffer) {
                // Others have their turn before it sends more.
                self.busy.push_back(handle);
                return Some(transmit);
            }
            entry.is_busy = false;
            self.settle(now, handle);
        }
        None
    }

    /// Something that happened. Ask when there is nothing more to send.
    pub fn poll_event(&mut self) -> Option<QuicEvent> {
        self.events.pop_front()
    }

    /// Passes on what a connection has to tell, and sets its timer.
    fn settle(&mut self, now: Instant, handle: ConnectionHandle) {
        while let Some(event) = self.entries.get_mut(&handle).and_then(|entry| entry.connection.poll()) {
            self.on_event(handle, event);
        }
        let Some(entry) = self.entries.get_mut(&handle) else { return };
        while let Some(event) = entry.connection.poll_endpoint_events() {
            let is_drained = event.is_drained();
            if let Some(event) = self.endpoint.handle_event(handle, event) {
                entry.connection.handle_event(event);
            }
            if is_drained {
                return self.forget(handle);
            }
        }
        self.follow_peer(now, handle);
        let Some(entry) = self.entries.get_mut(&handle) else { return };
        if !std::mem::replace(&mut entry.is_active, true) {
            self.active.push_back(handle);
        }
        let due = entry.connection.poll_timeout().into_iter().chain(entry.deadline).min();
        if due != entry.timer {
            entry.timer = due;
            self.timers.extend(due.map(|due| Reverse((due, handle.0))));
        }
    }

    fn on_event(&mut self, handle: ConnectionHandle, event: Event) {
        let Some(entry) = self.entries.get_mut(&handle) else { return };
        let connection = ConnectionKey(handle);
        let stream = |stream: StreamId| StreamKey { connection, stream };
        match event {
            Event::Connected => {
                let (peer, local) = (entry.peer, entry.connection.local_ip());
                let certificates = entry.certificates();
                self.end_handshake(handle);
                self.events.push_back(QuicEvent::Connected { connection, peer, local, certificates });
            }
            Event::ConnectionLost { reason } => self.lose(handle, LostWhy::of(&reason)),
            Event::Stream(StreamEvent::Opened { dir: Dir::Bi }) => {
                while let Some(opened) = entry.connection.streams().accept(Dir::Bi) {
                    self.events.push_back(QuicEvent::Opened(stream(opened)));
                }
            }
            Event::Stream(StreamEvent::Readable { id }) => {
                self.events.push_back(QuicEvent::Readable(stream(id)))
            }
            Event::Stream(StreamEvent::Writable { id }) => {
                self.events.push_back(QuicEvent::Writable(stream(id)))
            }
            Event::Stream(StreamEvent::Stopped { id, .. }) => {
                self.events.push_back(QuicEvent::Stopped(stream(id)))
            }
            _ => {}
        }
    }

    fn end_handshake(&mut self, handle: ConnectionHandle) {
        let Some(entry) = self.entries.get_mut(&handle) else { return };
        if entry.deadline.take().is_some()
            && let Some(server) = &mut self.server
        {
            server.admitted.end_handshake(entry.first);
        }
    }

    fn lose(&mut self, handle: ConnectionHandle, why: LostWhy) {
        self.end_handshake(handle);
        let Some(entry) = self.entries.get_mut(&handle) else { return };
        if !std::mem::replace(&mut entry.is_lost, true) {
            self.events.push_back(QuicEvent::Lost { connection: ConnectionKey(handle), why });
        }
    }

    fn follow_peer(&mut self, now: Instant, handle: ConnectionHandle) {
        let Some(entry) = self.entries.get_mut(&handle) else { return };
        let peer = entry.connection.remote_address();
        if peer == entry.peer || entry.is_lost {
            return;
        }
        entry.peer = peer;
        entry.moves += 1;
        let moves = entry.moves;
        self.events.push_back(QuicEvent::Moved { connection: ConnectionKey(handle), peer });
        if moves > MOVES_MAX {
            self.close_for(now, handle, "it moved to other addresses too often");
            self.touch(handle);
        }
    }

    /// Nothing is left of a connection.
    fn forget(&mut self, handle: ConnectionHandle) {
        self.lose(handle, LostWhy::Other("it was closed".to_owned()));
        let Some(entry) = self.entries.remove(&handle) else { return };
        if let Some(server) = &mut self.server {
            server.admitted.end(entry.first, entry.window);
        }
    }

    fn close_for(&mut self, now: Instant, handle: ConnectionHandle, why: &'static str) {
        let Some(entry) = self.entries.get_mut(&handle) else { return };
        entry.connection.close(now, VarInt::from_u32(0), Bytes::from_static(why.as_bytes()));
        self.lose(handle, LostWhy::Other(why.to_owned()));
    }

    /// Ends a connection, and tells the peer why.
    pub fn close(&mut self, now: Instant, connection: ConnectionKey, why: &'static str) {
        self.close_for(now, connection.0, why);
        self.touch(connection.0);
    }

    /// Ends all of them.
    pub fn close_all(&mut self, now: Instant, why: &'static str) {
        let handles: Vec<_> = self.entries.keys().copied().collect();
        handles.into_iter().for_each(|handle| self.close(now, ConnectionKey(handle), why));
    }

    /// A connection that did something since it was last asked for, as it is now.
    pub fn poll_facts(&mut self) -> Option<(ConnectionKey, ConnectionFacts)> {
        while let Some(handle) = self.active.pop_front() {
            if let Some(entry) = self.entries.get_mut(&handle) {
                entry.is_active = false;
                let connection = ConnectionKey(handle);
                return self.facts(connection).map(|facts| (connection, facts));
            }
        }
        None
    }

    /// A connection as it is now.
    pub fn facts(&self, connection: ConnectionKey) -> Option<ConnectionFacts> {
        let entry = self.entries.get(&connection.0)?;
        Some(ConnectionFacts::of(&entry.connection.stats(), &entry.flight, entry.moves))
    }

    /// An address of ours has changed: each client's connection shows its server where it is now.
    pub fn on_own_address_changed(&mut self) {
        let handles: Vec<_> = self.entries.keys().copied().collect();
        for handle in handles {
            if let Some(entry) = self.entries.get_mut(&handle).filter(|entry| !entry.is_lost) {
                entry.connection.local_address_changed();
            }
            self.touch(handle);
        }
    }

    /// How many connections there are, and how many of them are in a handshake that a server takes part in.
    pub fn counts(&self) -> (usize, usize) {
        (self.entries.len(), self.server.as_ref().map_or(0, |server| server.admitted.handshakes()))
    }

    /// A connection, for its streams.
    pub(crate) fn entry(&mut self, connection: ConnectionKey) -> Option<&mut Entry> {
        self.entries.get_mut(&connection.0).filter(|entry| !entry.is_lost)
    }

    /// The same, after which it may have something to send.
    pub(crate) fn entry_to_touch(&mut self, connection: ConnectionKey) -> Option<&mut Entry> {
        self.touch(connection.0);
        self.entry(connection)
    }
}

impl Entry {
    fn new(
        connection: Connection,
        flight: Arc<FlightCount>,
        peer: SocketAddr,
        window: u64,
        deadline: Option<Instant>,
    ) -> Self {
        Self {
            connection,
            flight,
            first: peer,
            peer,
            moves: 0,
            window,
            deadline,
            is_lost: false,
            is_busy: false,
            is_active: false,
            timer: None,
        }
    }

    fn certificates(&self) -> Vec<CertificateDer<'static>> {
        let identity = self.connection.crypto_session().peer_identity();
        identity.and_then(|identity| identity.downcast().ok()).map(|chain| *chain).unwrap_or_default()
    }
}
