//! What callers and the receiving thread share: the socket, and the state machine behind a lock.

use std::io::{self, ErrorKind, IoSlice};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use howdah_net::{Sent, UdpClient};
use howdah_rpc::client::datagram::{
    Advice, Datagram, NewCall, Output, Peer, Received, Report, Returned, Settings,
};
use howdah_rpc::client::{Class, Replay};
use howdah_wire::rpc::Credentials;
use howdah_wire::xdr::{Encode, Encoder};
use parking_lot::Mutex;

use super::super::call::{Call, Kind};
use super::super::hub::Hub;
use super::super::window::Place;
use super::super::{CallError, ConnectError, LaneReport, Request};

/// Reply bytes besides bulk data: header, status, attributes.
const REPLY: usize = 256;
/// What a listing is taken to bring, in bytes: servers bound it by what a datagram should hold.
const LISTING: usize = 8 << 10;
/// How long to wait for room in the socket; longer, and the datagram counts as lost.
const SEND_PATIENCE: Duration = Duration::from_millis(100);

/// What callers and the receiving thread share.
pub(super) struct Carrier {
    pub(super) socket: UdpClient,
    pub(super) hub: Arc<Hub>,
    state: Mutex<State>,
    received: AtomicU64,
    /// Something came from the server, ever.
    is_known: AtomicBool,
}

struct State {
    peer: Peer<Arc<Call>>,
    /// Until when the receiving thread sleeps, if it does; without a time, until it is woken.
    asleep: Option<Option<Instant>>,
    /// A procedure that was called last: a probe goes to its program.
    last: Option<Kind>,
    advised: Option<Advice>,
}

/// Calls that the state machine gave back.
type GivenBack = Vec<(Arc<Call>, Returned)>;

impl Carrier {
    pub(super) fn new(socket: UdpClient, hub: Arc<Hub>, first_transfer: Option<usize>) -> io::Result<Self> {
        let settings = Settings {
            path_mtu: socket.path_mtu(),
            receive_room: socket.receive_room()?,
            first_transfer,
            ..Settings::default()
        };
        let peer = Peer::new(&settings, Instant::now());
        let state = Mutex::new(State { peer, asleep: None, last: None, advised: None });
        let (received, is_known) = (AtomicU64::new(0), AtomicBool::new(false));
        Ok(Self { socket, hub, state, received, is_known })
    }

    /// Takes a call on, and sends it if the window allows it.
    pub(super) fn start(&self, call: Arc<Call>) {
        let mut state = self.state.lock();
        state.last = Some(call.kind);
        let now = Instant::now();
        state.peer.start(now, new_call(call));
        let given_back = self.pump(&mut state, now);
        if let Some(until) = state.asleep
            && state.peer.next_event().is_some_and(|next| until.is_none_or(|until| next < until))
        {
            // Once: it looks for itself when to wake next.
            state.asleep = None;
            self.socket.wake();
        }
        drop(state);
        self.end(given_back);
    }

    /// Does what is due; says until when the receiving thread, who calls this, may sleep.
    pub(super) fn tick(&self) -> Option<Instant> {
        let mut state = self.state.lock();
        let given_back = self.pump(&mut state, Instant::now());
        let until = if given_back.is_empty() { state.peer.next_event() } else { Some(Instant::now()) };
        state.asleep = Some(until);
        self.tell_advice(&mut state);
        drop(state);
        self.end(given_back);
        until
    }

    /// A datagram came.
    pub(super) fn on_datagram(&self, bytes: &[u8]) {
        let datagram = match Datagram::parse(bytes) {
            Ok(datagram) => datagram,
            Err(error) => {
                tracing::debug!(server = %self.socket.server(), %error, "a datagram that is no reply");
                return;
            }
        };
        self.is_known.store(true, Ordering::Relaxed);
        self.received.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.hub.on_heard(self.socket.server(), self.hub.now());
        let mut state = self.state.lock();
        let now = Instant::now();
        let received = state.peer.received(now, datagram.xid());
        let given_back = self.pump(&mut state, now);
        drop(state);
        self.end(given_back);
        if let Received::Answer { call, .. } = received {
            let reply = datagram.into_reply(call.take_receive());
            self.hub.on_reply(&call, reply);
        }
    }

    /// Nobody listens at the server's port. One that was there before may come back; one that never was is reported.
    pub(super) fn on_refused(&self, error: io::Error) {
        tracing::debug!(server = %self.socket.server(), %error, "the server's host refuses datagrams");
        if !self.is_known.load(Ordering::Relaxed) {
            let (address, cause) = (self.socket.server(), Arc::new(error));
            self.abandon(&CallError::Connect(ConnectError::Failed { address, cause }));
        }
    }

    /// Ends all calls.
    pub(super) fn abandon(&self, error: &CallError) {
        let calls = self.state.lock().peer.take_all();
        for call in calls {
            self.hub.finish(&call, Err(error.clone()));
        }
    }

    /// The size that READs and WRITEs should have now.
    pub(super) fn transfer_size(&self) -> usize {
        self.state.lock().peer.transfer_size()
    }

    pub(super) fn report(&self) -> Report {
        self.state.lock().peer.report(Instant::now())
    }

    pub(super) fn lane_report(&self) -> LaneReport {
        let state = self.state.lock();
        let report = state.peer.report(Instant::now());
        LaneReport {
            server: self.socket.server(),
            local: Some(self.socket.local()),
            round_trip: report.classes.first().and_then(|class| class.round_trip),
            rate: report.bytes_per_second.unwrap_or_default(),
            calls: state.peer.len(),
            received: self.received.load(Ordering::Relaxed),
            connections: 1,
        }
    }

    /// Sends all that may be sent.
    fn pump(&self, state: &mut State, now: Instant) -> GivenBack {
        let mut given_back = Vec::new();
        while let Some(output) = state.peer.poll(now) {
            match output {
                Output::Send { call, .. } => self.send(call),
                Output::Returned { call, why } => given_back.push((call, why)),
                Output::Probe => self.probe(state, now),
            }
        }
        given_back
    }

    fn send(&self, call: &Call) {
        let before = call.on_datagram();
        self.hub.on_send(call, before);
        let pieces = call.outgoing.message().map(IoSlice::new);
        let until = Instant::now() + SEND_PATIENCE;
        loop {
            match self.socket.send(&pieces) {
                Ok(Sent::WouldBlock) if Instant::now() < until => {
                    let _ = self.socket.wait_to_send(SEND_PATIENCE);
                }
                // What an earlier datagram met says nothing of this one, which was not sent.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused && Instant::now() < until => {}
                Ok(Sent::Bytes(_)) => return,
                // Its timer sends it again.
                Ok(Sent::WouldBlock) => return,
                Err(error) => {
                    tracing::debug!(server = %self.socket.server(), %error, "sending a datagram");
                    return;
                }
            }
        }
    }

    /// Starts a NULL, whose answer tells that the server lives.
    fn probe(&self, state: &mut State, now: Instant) {
        let Some(Kind { program, version, .. }) = state.last else { return };
        let request = Request {
            program,
            version,
            procedure: 0,
            credentials: Credentials::None,
            arguments: &Nothing,
            payload: None,
            receive: None,
            class: Class::Attributes,
            replay: Replay::Idempotent,
        };
        let call = self.hub.prepare(request, 0, Place::None, now, None);
        state.peer.start(now, new_call(Arc::new(call)));
    }

    fn end(&self, given_back: GivenBack) {
        for (call, why) in given_back {
            let error = match why {
                Returned::Expired => CallError::TimedOut,
                Returned::TooLarge { transfer } => {
                    let buffer = call.take_receive().map(|receive| receive.buffer);
                    CallError::TooLarge { transfer, buffer }
                }
            };
            self.hub.finish(&call, Err(error));
        }
    }

    fn tell_advice(&self, state: &mut State) {
        let advice = state.peer.advice();
        if let Some(advice) = advice.filter(|_| state.advised.is_none()) {
            tracing::warn!(server = %self.socket.server(), "{advice}");
            state.advised = Some(advice);
        }
    }
}

/// A call as the state machine takes it.
fn new_call(call: Arc<Call>) -> NewCall<Arc<Call>> {
    let receives = match call.class {
        Class::Read => call.volume + REPLY,
        Class::Listing => LISTING,
        _ => REPLY,
    };
    NewCall {
        xid: call.xid,
        class: call.class,
        replay: call.replay,
        sends: call.outgoing.message().iter().map(|piece| piece.len()).sum(),
        receives,
        transfer: call.class.is_bulk().then_some(call.volume),
        expires: call.deadline,
        call,
    }
}

/// No arguments.
struct Nothing;

impl Encode for Nothing {
    fn encode(&self, _: &mut Encoder<'_>) {}
}
