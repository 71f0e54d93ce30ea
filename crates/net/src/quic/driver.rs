//! The thread of a UDP port: receives, lets time pass, moves the bytes of streams, and sends.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use howdah_quic::{ConnectionKey, Engine, LostWhy, QuicEvent, StreamKey, Transmit};

use super::bridge::Bridge;
use super::link::{Inbox, QuicLink, StreamState};
use super::readiness::{Change, Readiness};
use super::socket::{Batch, QuicSocket, SendOutcome};

/// Tokens of the socket and of who wakes the thread; those of streams come behind them.
const SOCKET: u64 = 0;
const WAKEUP: u64 = 1;
const FIRST_STREAM: u64 = 2;
/// Batches that are received, and sends that are made, before the other has its turn.
const RECEIVES: usize = 8;
const SENDS: usize = 32;
/// How long the last packets of a thread that ends may wait for room in its socket.
const END_PATIENCE: Duration = Duration::from_millis(100);

/// What the thread is asked for.
#[derive(Debug)]
pub(super) enum Work {
    /// Opens a stream, of which this is the connection's end.
    Open(OwnedFd, Arc<StreamState>),
    /// Ends this connection, for this reason, unless the key names another one by now.
    Close(ConnectionKey, Arc<QuicLink>, &'static str),
    /// Ends all connections, and the thread.
    End,
}

/// What a server and a client do each in their own way.
pub(super) trait Owner: Send {
    /// Before anything else is done in a turn.
    fn prepare(&mut self, engine: &mut Engine);

    /// A handshake is done; gives what streams of the connection are to know.
    fn on_connected(&mut self, event: &QuicEvent, now: Instant) -> Option<Arc<QuicLink>>;

    /// The peer opened a stream; gives the connection's end of it.
    fn on_opened(&mut self, stream: StreamKey, link: &Arc<QuicLink>) -> Option<(OwnedFd, Arc<StreamState>)>;

    /// A connection is over, also one whose handshake was never done.
    fn on_lost(&mut self, connection: ConnectionKey, why: &LostWhy);

    /// The connection that streams are opened on.
    fn connection(&self) -> Option<ConnectionKey>;
}

/// The thread's state.
pub(super) struct Driver<O> {
    engine: Engine,
    socket: QuicSocket,
    readiness: Readiness,
    inbox: Arc<Inbox<Work>>,
    owner: O,
    links: HashMap<ConnectionKey, Arc<QuicLink>>,
    bridges: HashMap<u64, Bridge>,
    tokens: HashMap<StreamKey, u64>,
    next: u64,
    /// Streams that may have something to move.
    due: Vec<u64>,
    /// What the socket did not take.
    held: Option<(Transmit, Vec<u8>)>,
    buffer: Vec<u8>,
    scratch: Vec<u8>,
    /// There may be more to receive, or to send, at once.
    may_receive: bool,
    has_more: bool,
    /// Until when the last packets may go.
    ends: Option<Instant>,
}

impl<O: Owner> Driver<O> {
    pub(super) fn new(
        engine: Engine,
        socket: QuicSocket,
        inbox: Arc<Inbox<Work>>,
        owner: O,
    ) -> io::Result<Self> {
        let readiness = Readiness::new()?;
        readiness.add(&socket, SOCKET)?;
        readiness.add(&inbox.wakeup, WAKEUP)?;
        let (links, bridges, tokens, due, held, buffer, scratch) = Default::default();
        Ok(Self {
            engine,
            socket,
            readiness,
            inbox,
            owner,
            links,
            bridges,
            tokens,
            next: FIRST_STREAM,
            due,
            held,
            buffer,
            scratch,
            may_receive: true,
            has_more: true,
            ends: None,
        })
    }

    /// Runs until it is told to end.
    pub(super) fn run(mut self) {
        let (mut changes, mut batch) = (Vec::new(), Batch::new());
        loop {
            let most = self.patience(Instant::now());
            if let Err(error) = self.readiness.wait(most, &mut changes) {
                tracing::error!(%error, "waiting for packets of QUIC");
                return;
            }
            changes.iter().for_each(|change| self.on_change(change));
            self.turn(Instant::now(), &mut batch);
            if self.ends.is_some_and(|end| self.held.is_none() || Instant::now() >= end) {
                return;
            }
        }
    }

    fn patience(&mut self, now: Instant) -> Option<Duration> {
        if self.has_more || (self.may_receive && self.held.is_none()) {
            return Some(Duration::ZERO);
        }
        let due = self.engine.poll_timeout().into_iter().chain(self.ends).min();
        due.map(|due| due.saturating_duration_since(now))
    }

    fn on_change(&mut self, change: &Change) {
        match change.token {
            SOCKET => {
                self.may_receive |= change.readable;
                self.has_more |= change.writable && self.held.is_some();
            }
            WAKEUP => self.work(),
            token => {
                if let Some(bridge) = self.bridges.get_mut(&token) {
                    bridge.on_ready(change.readable, change.writable);
                    self.due.push(token);
                }
            }
        }
    }

    fn work(&mut self) {
        for work in self.inbox.take() {
            match work {
                Work::End => {
                    let now = Instant::now();
                    // What streams still hold goes before the end.
                    self.due.extend(self.bridges.keys());
                    self.ends.get_or_insert(now + END_PATIENCE);
                }
                Work::Close(connection, link, why) => {
                    if self.links.get(&connection).is_some_and(|its| Arc::ptr_eq(its, &link)) {
                        self.engine.close(Instant::now(), connection, why);
                    }
                }
                Work::Open(socket, state) => {
                    let opened = self.owner.connection().and_then(|connection| self.engine.open(connection));
                    match opened {
                        Some(stream) => self.add(stream, socket, state),
                        // Its other end sees that it is over.
                        None => state.on_reset(),
                    }
                }
            }
        }
    }

    fn add(&mut self, stream: StreamKey, socket: OwnedFd, state: Arc<StreamState>) {
        let token = self.next;
        self.next += 1;
        if let Err(error) = self.readiness.add(&socket, token) {
            tracing::warn!(%error, "waiting for a stream of QUIC");
            state.on_reset();
            return self.engine.reset(stream);
        }
        self.bridges.insert(token, Bridge::new(stream, socket, state));
        self.tokens.insert(stream, token);
        self.due.push(token);
    }

    fn turn(&mut self, now: Instant, batch: &mut Batch) {
        self.owner.prepare(&mut self.engine);
        self.receive(now, batch);
        self.engine.on_time(now);
        self.has_more = false;
        // First, so that the reader of new bytes can see that their sender has moved.
        self.see_events(now);
        loop {
            self.pump();
            if !self.transmit(now) {
                break;
            }
            self.see_events(now);
            if self.due.is_empty() {
                break;
            }
        }
        if self.ends.is_some() {
            self.engine.close_all(now, "the other end stops");
            self.transmit(now);
        }
        self.tell(now);
    }

    fn receive(&mut self, now: Instant, batch: &mut Batch) {
        for _ in 0..RECEIVES {
            if !self.may_receive {
                return;
            }
            let engine = &mut self.engine;
            match self.socket.receive(batch, |from, to, datagram| engine.on_datagram(now, from, to, datagram))
            {
                Ok(may_receive) => self.may_receive = may_receive,
                Err(error) => {
                    tracing::debug!(%error, "receiving packets of QUIC");
                    self.may_receive = false;
                }
            }
        }
    }

    /// Moves the bytes of the streams that may have some.
    fn pump(&mut self) {
        while let Some(token) = self.due.pop() {
            let Some(bridge) = self.bridges.get_mut(&token) else { continue };
            if bridge.pump(&mut self.engine, &mut self.scratch) {
                self.remove(token);
            }
        }
    }

    fn remove(&mut self, token: u64) {
        if let Some(bridge) = self.bridges.remove(&token) {
            self.tokens.remove(&bridge.stream());
            if bridge.was_cut() {
                self.engine.reset(bridge.stream());
            }
        }
    }

    /// Sends what there is; says whether the socket took all.
    fn transmit(&mut self, now: Instant) -> bool {
        if let Some((transmit, bytes)) = self.held.take()
            && !self.send(transmit, bytes)
        {
            return false;
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        for _ in 0..SENDS {
            let Some(transmit) = self.engine.poll_transmit(now, self.socket.segments(), &mut buffer) else {
                self.buffer = buffer;
                return true;
            };
            if !self.send(transmit, buffer) {
                return false;
            }
            buffer = std::mem::take(&mut self.buffer);
        }
        self.buffer = buffer;
        self.has_more = true;
        true
    }

    /// Sends, or keeps what the socket does not take. The memory is used again.
    fn send(&mut self, transmit: Transmit, bytes: Vec<u8>) -> bool {
        let (segment, length) = (transmit.segment_size, transmit.size);
        let sent = self.socket.send(&bytes[..length], segment, transmit.destination, transmit.src_ip);
        match sent {
            Ok(SendOutcome::Full) => {
                self.held = Some((transmit, bytes));
                return false;
            }
            // A way was found again, which may lead from another address.
            Ok(SendOutcome::WayFound) => self.engine.on_own_address_changed(),
            Ok(SendOutcome::Gone) => {}
            Err(error) => tracing::debug!(%error, "sending packets of QUIC"),
        }
        self.buffer = bytes;
        true
    }

    fn see_events(&mut self, now: Instant) {
        while let Some(event) = self.engine.poll_event() {
            self.on_event(event, now);
        }
    }

    fn on_event(&mut self, event: QuicEvent, now: Instant) {
        match event {
            QuicEvent::Connected { connection, .. } => {
                if let Some(link) = self.owner.on_connected(&event, now) {
                    self.links.insert(connection, link);
                }
            }
            QuicEvent::Moved { connection, peer } => {
                if let Some(link) = self.links.get(&connection) {
                    tracing::info!(%peer, "a client of QUIC has moved");
                    link.on_moved(peer);
                }
            }
            QuicEvent::Opened(stream) => {
                let Some(link) = self.links.get(&stream.connection) else { return };
                match self.owner.on_opened(stream, link) {
                    Some((socket, state)) => self.add(stream, socket, state),
                    None => self.engine.reset(stream),
                }
            }
            QuicEvent::Readable(stream) => self.with(stream, Bridge::on_readable),
            QuicEvent::Writable(stream) => self.with(stream, |_| ()),
            QuicEvent::Stopped(stream) => self.with(stream, Bridge::on_stopped),
            QuicEvent::Lost { connection, why } => self.on_lost(connection, why),
        }
    }

    fn with(&mut self, stream: StreamKey, act: impl FnOnce(&mut Bridge)) {
        let Some(&token) = self.tokens.get(&stream) else { return };
        if let Some(bridge) = self.bridges.get_mut(&token) {
            act(bridge);
            self.due.push(token);
        }
    }

    fn on_lost(&mut self, connection: ConnectionKey, why: LostWhy) {
        self.owner.on_lost(connection, &why);
        if let Some(link) = self.links.remove(&connection) {
            link.on_lost(why);
        }
        let of_it = self.tokens.iter().filter(|(stream, _)| stream.connection == connection);
        let tokens: Vec<u64> = of_it.map(|(_, token)| *token).collect();
        for token in tokens {
            if let Some(bridge) = self.bridges.get_mut(&token) {
                bridge.on_reset();
            }
            self.remove(token);
        }
    }

    /// Tells streams what their connections know.
    fn tell(&mut self, now: Instant) {
        while let Some((connection, facts)) = self.engine.poll_facts() {
            if let Some(link) = self.links.get(&connection) {
                link.on_active(now, &facts, || self.socket.facts());
            }
        }
    }
}
