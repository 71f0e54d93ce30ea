//! What all threads of a channel over datagrams share: the socket, and the state machine behind a lock.

use std::io::{self, ErrorKind, IoSlice};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use howdah_net::{Sent, UdpClient};
use howdah_rpc::client::core::{self, AnswerEffect, Core, ProcedureId};
use howdah_rpc::client::datagram::{
    Advice, Message, NewCall, Output, Peer, ReceivedReply, Report, Returned, Settings,
};
use howdah_rpc::client::envelope::CallEnd;
use howdah_rpc::client::{Claim, Class, SealBuffer};
use howdah_wire::rpc::RecordMark;
use parking_lot::Mutex;

use super::super::call::Call;
use super::super::driver::{Driver, error_of, log};
use super::super::{Answer, CallError, LaneConnectError, LaneReport, Request};

/// Reply bytes besides bulk data: header, status, attributes.
const REPLY: usize = 256;
/// What a listing is taken to bring, in bytes: servers bound it by what a datagram should hold.
const LISTING: usize = 8 << 10;
/// How long to wait before answers are looked for again that somebody has in hand.
const MOMENT: Duration = Duration::from_millis(2);
/// How long to wait for room in the socket; longer, and the datagram counts as lost.
const SEND_PATIENCE: Duration = Duration::from_millis(100);

/// What all threads share.
pub(in super::super) struct Carrier {
    pub(super) socket: UdpClient,
    pub(super) driver: Driver,
    state: Mutex<State>,
    /// The thread that holds this leads: it receives for all.
    pub(super) inbox: Mutex<Message>,
    /// The leader waits in the kernel, or does not know yet that it need not.
    pub(super) is_receiving: AtomicBool,
    /// Calls of the threads that wait for another one to receive.
    pub(super) followers: Mutex<Vec<Arc<Call>>>,
    /// Somebody waits who cannot receive: the thread must.
    pub(super) is_urgent: AtomicBool,
    received: AtomicU64,
    /// Something came from the server, ever.
    is_known: AtomicBool,
}

struct State {
    peer: Peer<Arc<Call>>,
    /// Until when the thread sleeps, if it does; without a time, until it is woken.
    asleep: Option<Option<Instant>>,
    /// A procedure that was called last: a probe goes to its program.
    last: Option<ProcedureId>,
    advised: Option<Advice>,
}

/// Whether anybody looked for answers before it is judged what is late: a thread that was not run for a while finds both, its
/// answers and its timers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Looked {
    /// Nobody did.
    No,
    /// There was nothing.
    Nothing,
}

/// What the state machine wants done, to be done while it is not locked.
#[derive(Default)]
struct ToDo {
    /// To be sent, in order.
    send: Vec<Arc<Call>>,
    /// It gave these back.
    end: Vec<(Arc<Call>, Returned)>,
}

impl Carrier {
    pub(super) fn new(socket: UdpClient, driver: Driver, settings: &Settings) -> Self {
        let peer = Peer::new(settings, Instant::now());
        let state = Mutex::new(State { peer, asleep: None, last: None, advised: None });
        Self {
            socket,
            driver,
            state,
            inbox: Mutex::default(),
            is_receiving: AtomicBool::new(false),
            followers: Mutex::default(),
            is_urgent: AtomicBool::new(false),
            received: AtomicU64::new(0),
            is_known: AtomicBool::new(false),
        }
    }

    /// The server's address and port.
    pub(super) fn server(&self) -> SocketAddr {
        self.socket.server()
    }

    /// Whether no call is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.state.lock().peer.is_empty()
    }

    /// Decides something, and does what follows from it.
    pub(super) fn decide<R>(&self, decision: impl FnOnce(&mut Core<Arc<Call>>) -> R) -> R {
        let mut core = self.driver.core();
        let result = decision(&mut core);
        while let Some(output) = core.poll() {
            drop(core);
            match output {
                core::CoreOutput::Failed { call, why } => {
                    self.state.lock().peer.cancel(call.xid);
                    call.finish(Err(error_of(why)));
                }
                core::CoreOutput::Admitted(call) => self.carry(call),
                core::CoreOutput::Notice(notice) => log(notice, |_| self.server()),
                core::CoreOutput::Moved(_)
                | core::CoreOutput::Wake(_)
                | core::CoreOutput::Receive(_)
                | core::CoreOutput::AttendSession
                | core::CoreOutput::Ask { .. }
                | core::CoreOutput::Cut { .. } => unreachable!("there are no lanes"),
            }
            core = self.driver.core();
        }
        result
    }

    /// Makes a call: sends it if it may be in flight, or lets it wait for its turn.
    pub(super) fn start(&self, request: Request<'_>, now: Instant) -> Arc<Call> {
        let facts = self.driver.prepare(request, now);
        let call = Arc::clone(&facts.call);
        self.decide(|core| core.start(facts, self.driver.time_at(now)));
        call
    }

    /// Takes a call on that may be in flight, and sends it if the window allows it.
    fn carry(&self, call: Arc<Call>) {
        let mut state = self.state.lock();
        state.last = Some(call.procedure);
        let now = Instant::now();
        state.peer.start(now, new_call(call));
        let to_do = self.pump(&mut state, now, Looked::No);
        let wake = state.must_wake();
        drop(state);
        self.act(to_do);
        if wake {
            self.socket.wake();
        }
    }

    /// Does what is due; says until when the thread, which calls this, may sleep, no longer than `most`.
    pub(super) fn tick(&self, most: Option<Instant>) -> Option<Instant> {
        let now = Instant::now();
        let looked = self.look();
        let mut state = self.state.lock();
        let to_do = self.pump(&mut state, now, looked);
        if state.peer.is_empty() {
            self.is_urgent.store(false, Ordering::SeqCst);
        }
        let until = if to_do.end.is_empty() { state.peer.next_event() } else { Some(now) };
        // What is due could not be judged: the thread with an answer in hand needs a moment.
        let until = until.map(|until| if looked == Looked::No { until.max(now + MOMENT) } else { until });
        let until = until.into_iter().chain(most).min();
        state.asleep = Some(until);
        self.tell_advice(&mut state);
        drop(state);
        self.act(to_do);
        until
    }

    /// Sleeps until that time, or somebody wakes us.
    pub(super) fn wait_to_be_woken(&self, until: Option<Instant>) {
        if let Err(error) = self.socket.wait_to_be_woken(until) {
            tracing::error!(%error, "waiting for a time");
        }
    }

    /// A datagram of so many bytes came.
    pub(super) fn on_message(&self, message: &mut Message, count: usize) {
        let datagram = match message.parse() {
            Ok(datagram) => datagram,
            Err(error) => {
                tracing::debug!(server = %self.server(), %error, "a datagram that is no reply");
                return;
            }
        };
        self.is_known.store(true, Ordering::Relaxed);
        self.received.fetch_add(count as u64, Ordering::Relaxed);
        let now = Instant::now();
        self.decide(|core| core.on_heard(None, count, self.driver.time_at(now)));
        let mut state = self.state.lock();
        let received = state.peer.received(now, datagram.xid());
        let to_do = self.pump(&mut state, now, Looked::No);
        let wake = state.must_wake();
        drop(state);
        self.act(to_do);
        if wake {
            self.socket.wake();
        }
        if let ReceivedReply::Answer { call, .. } = received {
            let Claim::Call(receive) = self.driver.core().claim(None, call.xid) else { return };
            let mut answer = Answer::from_reply(message.to_reply(datagram, receive));
            let moved = |volume| answer.as_ref().ok().map(|answer| answer.moved(volume));
            let time = self.driver.time_at(now);
            let end = (moved, CallEnd::NotRun);
            let AnswerEffect::Call(answered) = self.decide(|core| core.on_answer(None, call.xid, end, time))
            else {
                return;
            };
            if let Ok(answer) = &mut answer {
                answer.sent_more_than_once = answered.sends > 1;
            }
            call.finish(answer);
        }
    }

    /// Nobody listens at the server's port. One that was there before may come back; one that never was is reported.
    pub(super) fn on_refused(&self, error: io::Error) {
        tracing::debug!(server = %self.server(), %error, "the server's host refuses datagrams");
        if !self.is_known.load(Ordering::Relaxed) {
            let (address, cause) = (self.socket.server(), Arc::new(error));
            self.abandon(&CallError::Connect(LaneConnectError::Failed { address, cause }));
        }
    }

    /// Ends all calls that it carries.
    fn abandon(&self, error: &CallError) {
        loop {
            let carried = self.state.lock().peer.take_all();
            if carried.is_empty() {
                return;
            }
            carried.iter().for_each(|call| self.end_with(call, error.clone()));
        }
    }

    /// A call is over.
    fn end_with(&self, call: &Call, error: CallError) {
        if self.decide(|core| core.abort(call.xid, self.driver.time())) {
            call.finish(Err(error));
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

    /// All that may be sent, and what else the state machine says.
    fn pump(&self, state: &mut State, now: Instant, looked: Looked) -> ToDo {
        let mut to_do = ToDo::default();
        loop {
            let output = match looked {
                Looked::Nothing => state.peer.poll(now),
                Looked::No => state.peer.poll_to_send(now),
            };
            let Some(output) = output else { return to_do };
            match output {
                Output::Send { call, .. } => to_do.send.push(Arc::clone(call)),
                Output::Returned { call, why } => to_do.end.push((call, why)),
                Output::Probe => self.probe(state, now),
            }
        }
    }

    /// Looks whether answers wait to be received, or were received and not taken in yet.
    fn look(&self) -> Looked {
        let is_known = self.lacks_leader() || self.is_receiving.load(Ordering::SeqCst);
        let is_empty = is_known && self.socket.is_readable().is_ok_and(|is_readable| !is_readable);
        if is_empty { Looked::Nothing } else { Looked::No }
    }

    fn act(&self, to_do: ToDo) {
        to_do.send.iter().for_each(|call| self.send(call));
        self.end(to_do.end);
    }

    fn send(&self, call: &Call) {
        let before = self.driver.core().on_datagram(call.xid, self.driver.time());
        let Some(before) = before else {
            // It was given up before it was taken on.
            self.state.lock().peer.cancel(call.xid);
            return;
        };
        if before > 0 {
            tracing::debug!(xid = call.xid, procedure = ?call.procedure, replay = ?call.replay, before, "sending again");
            self.look_after_address();
        }
        let mut desk = SealBuffer::default();
        let pieces = call.seal(None, &mut desk).message().map(IoSlice::new);
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
                    tracing::debug!(server = %self.server(), %error, "sending a datagram");
                    return;
                }
            }
        }
    }

    /// Something was not answered: perhaps since the address is gone that we come from.
    fn look_after_address(&self) {
        match self.socket.leave_lost_address() {
            Ok(false) => {}
            Ok(true) => {
                tracing::info!(server = %self.server(), local = %self.socket.local(), "this host has another address");
            }
            Err(error) => tracing::debug!(server = %self.server(), %error, "looking for a way to the server"),
        }
    }

    /// Starts a NULL, whose answer shows that the server lives.
    fn probe(&self, state: &mut State, now: Instant) {
        let Some(ProcedureId { program, version, .. }) = state.last else { return };
        let facts = self.driver.prepare(Request::null(program, version), now);
        let call = Arc::clone(&facts.call);
        self.driver.core().start_question(facts, None, self.driver.time_at(now));
        state.peer.start(now, new_call(call));
    }

    fn end(&self, given_back: Vec<(Arc<Call>, Returned)>) {
        for (call, why) in given_back {
            let error = match why {
                Returned::Expired => CallError::TimedOut,
                Returned::TooLarge { transfer } => {
                    let claim = self.driver.core().claim(None, call.xid);
                    let Claim::Call(receive) = claim else { continue };
                    CallError::TooLarge { transfer, buffer: receive.map(|receive| receive.buffer) }
                }
            };
            self.end_with(&call, error);
        }
    }

    fn tell_advice(&self, state: &mut State) {
        let advice = state.peer.advice();
        if let Some(advice) = advice.filter(|_| state.advised.is_none()) {
            tracing::warn!(server = %self.server(), "{advice}");
            state.advised = Some(advice);
        }
    }
}

impl State {
    /// Whether the thread must be woken, since something is due before it wakes by itself. Once: then it looks for itself.
    fn must_wake(&mut self) -> bool {
        let next = self.peer.next_event();
        let sleeps_too_long =
            |until: &Option<Instant>| next.is_some_and(|next| until.is_none_or(|until| next < until));
        self.asleep.take_if(|until| sleeps_too_long(until)).is_some()
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
        sends: call.length() - RecordMark::SIZE,
        receives,
        transfer: call.class.is_bulk().then_some(call.volume),
        expires: call.deadline,
        call,
    }
}
