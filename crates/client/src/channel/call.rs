//! One call under way, shared by who waits for it and by those who carry it.

use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use howdah_rpc::client::core::{CallFacts, ProcedureId};
use howdah_rpc::client::envelope::{CallProtection, CallTicket, ResultsCover, TicketNeed, TicketStamp};
use howdah_rpc::client::{CallEnvelope, Class, Outgoing, ReceiveInto, ReplaySafety, SealBuffer};
use parking_lot::{Condvar, Mutex, MutexGuard};

use super::{Answer, CallError, LateAnswer, Payload};

/// A call under way.
pub(super) struct Call {
    pub(super) xid: u32,
    pub(super) procedure: ProcedureId,
    pub(super) class: Class,
    pub(super) replay: ReplaySafety,
    /// Bytes of bulk data that it moves, or may.
    pub(super) volume: usize,
    pub(super) deadline: Option<Instant>,
    /// Once it is answered, the server may call over its connection.
    pub(super) invites_calls: bool,
    on_late: Option<LateAnswer>,
    outgoing: Outgoing<Payload>,
    stamp: Option<TicketStamp>,
    protection: Option<Arc<dyn CallProtection>>,
    /// How long to sleep at most before looking whether its time is over.
    looks_again: Option<Duration>,
    state: Mutex<State>,
    changed: Condvar,
}

/// What changes while it is under way.
#[derive(Default)]
struct State {
    /// The lane that carries it, once it is known.
    lane: Option<usize>,
    outcome: Option<Result<Answer, CallError>>,
    is_done: bool,
    waker: Option<Waker>,
    is_parked: bool,
}

/// What a call is made of.
pub(super) struct Parts {
    pub(super) xid: u32,
    pub(super) procedure: ProcedureId,
    pub(super) class: Class,
    pub(super) replay: ReplaySafety,
    pub(super) volume: usize,
    pub(super) deadline: Option<Instant>,
    pub(super) invites_calls: bool,
    pub(super) outgoing: Outgoing<Payload>,
    pub(super) stamp: Option<TicketStamp>,
    pub(super) protection: Option<Arc<dyn CallProtection>>,
    pub(super) looks_again: Option<Duration>,
}

impl Call {
    /// A call that was not sent yet.
    pub(super) fn new(parts: Parts) -> Self {
        let Parts { xid, procedure, class, replay, volume, deadline, invites_calls, outgoing, .. } = parts;
        Self {
            xid,
            procedure,
            class,
            replay,
            volume,
            deadline,
            invites_calls,
            on_late: None,
            outgoing,
            stamp: parts.stamp,
            protection: parts.protection,
            looks_again: parts.looks_again,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// The same, with who hears of an answer that comes after its caller gave up.
    pub(super) fn with_late(self, on_late: Option<LateAnswer>) -> Self {
        Self { on_late, ..self }
    }

    /// As its channel must know it.
    pub(super) fn facts(
        self: &Arc<Self>,
        receive: Option<ReceiveInto>,
        cover: ResultsCover,
    ) -> CallFacts<Arc<Self>> {
        let Self { xid, procedure, class, volume, .. } = **self;
        let ticket = self.stamp.map_or(TicketNeed::None, |stamp| stamp.need);
        CallFacts { xid, procedure, class, volume, ticket, receive, cover, call: Arc::clone(self) }
    }

    /// It was answered after its caller gave up.
    pub(super) fn on_late(&self, answer: &Result<Answer, CallError>) {
        if let (Some(LateAnswer(hear)), Ok(answer)) = (&self.on_late, answer) {
            hear(&answer.results);
        }
    }

    /// What protects it.
    pub(super) fn protection(&self) -> Option<&dyn CallProtection> {
        self.protection.as_deref()
    }

    /// The call as it is sent now.
    pub(super) fn seal<'e>(
        &'e self,
        ticket: Option<CallTicket>,
        desk: &'e mut SealBuffer,
    ) -> CallEnvelope<'e, Payload> {
        self.outgoing.seal(ticket.zip(self.stamp), self.protection.as_deref(), desk)
    }

    /// Bytes of it, unprotected.
    pub(super) fn length(&self) -> usize {
        self.outgoing.length()
    }

    /// The lane that carries it, if one does.
    pub(super) fn lane(&self) -> Option<usize> {
        self.state.lock().lane
    }

    /// It was made for this lane. By now another may carry it.
    pub(super) fn made_for(&self, lane: Option<usize>) {
        let mut state = self.state.lock();
        state.lane = state.lane.or(lane);
    }

    /// Another lane carries it from now on, which `lane` says as it is then: who waits follows it there.
    pub(super) fn follow(&self, lane: impl FnOnce() -> Option<usize>) {
        let mut state = self.state.lock();
        state.lane = lane().or(state.lane);
        drop(state);
        self.changed.notify_all();
    }

    /// Whether there is an outcome, or was.
    pub(super) fn is_done(&self) -> bool {
        self.state.lock().is_done
    }

    /// Whether its caller need not receive on this lane any more: there is an outcome, or another lane carries it.
    pub(super) fn is_over_here(&self, lane: usize) -> bool {
        let state = self.state.lock();
        state.is_done || state.lane != Some(lane)
    }

    /// It is over; the first outcome counts.
    pub(super) fn finish(&self, outcome: Result<Answer, CallError>) {
        let mut state = self.state.lock();
        if state.is_done {
            return;
        }
        (state.is_done, state.outcome) = (true, Some(outcome));
        let (waker, is_parked) = (state.waker.take(), state.is_parked);
        drop(state);
        if is_parked {
            self.changed.notify_all();
        }
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The outcome, or the lane to wait on; none if datagrams carry it.
    pub(super) fn outcome(&self) -> Result<Result<Answer, CallError>, Option<usize>> {
        let mut state = self.state.lock();
        state.outcome.take().ok_or(state.lane)
    }

    /// The outcome for a future: without one, `waker` is woken when there is.
    pub(super) fn poll(&self, waker: &Waker) -> Poll<Result<Answer, CallError>> {
        let mut state = self.state.lock();
        match state.outcome.take() {
            Some(outcome) => Poll::Ready(outcome),
            None => {
                state.waker = Some(waker.clone());
                Poll::Pending
            }
        }
    }

    /// Sleeps until something about it changes, unless another lane than `lane` carries it by now, or `stay_awake`, which is
    /// asked while nobody can change it.
    pub(super) fn park(&self, lane: Option<usize>, stay_awake: impl FnOnce() -> bool) {
        let state = self.state.lock();
        if !state.is_done && state.lane == lane && !stay_awake() {
            self.sleep(state);
        }
    }

    fn sleep(&self, mut state: MutexGuard<'_, State>) {
        state.is_parked = true;
        match (self.deadline, self.looks_again) {
            (Some(deadline), _) => drop(self.changed.wait_until(&mut state, deadline)),
            (None, Some(time)) => drop(self.changed.wait_for(&mut state, time)),
            (None, None) => self.changed.wait(&mut state),
        }
        state.is_parked = false;
    }

    /// Wakes the sleeping thread, to look again; returns whether anybody needs to.
    pub(super) fn nudge(&self) -> bool {
        let state = self.state.lock();
        let (is_parked, is_done) = (state.is_parked, state.is_done);
        // Who wakes wants it first.
        drop(state);
        if is_parked {
            self.changed.notify_all();
        }
        !is_done
    }
}
