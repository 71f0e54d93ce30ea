//! One call under way, shared by who waits for it and by the lane that carries it.

use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use howdah_rpc::client::{Class, Outgoing, ReceiveInto, Replay};
use parking_lot::{Condvar, Mutex, MutexGuard};

use super::lane::Lane;
use super::{Answer, CallError, Payload};
use howdah_rpc::client::lanes::Place;

/// A call under way.
pub(super) struct Call {
    pub(super) xid: u32,
    /// Which call of the channel it is, in the order in which they were made.
    pub(super) number: u64,
    pub(super) kind: Kind,
    pub(super) class: Class,
    pub(super) replay: Replay,
    pub(super) outgoing: Outgoing<Payload>,
    /// Bytes of bulk data that it moves, or may.
    pub(super) volume: usize,
    /// Whether it has a buffer for the data of its reply.
    pub(super) wants_data: bool,
    pub(super) started: Instant,
    deadline: Option<Instant>,
    /// How long to sleep at most before looking whether its time is over.
    looks_again: Option<Duration>,
    state: Mutex<State>,
    changed: Condvar,
}

/// Which procedure is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Kind {
    pub(super) program: u32,
    pub(super) version: u32,
    pub(super) procedure: u32,
}

/// What changes while it is under way.
///
/// Its lock may be held while a lane's is taken, never the other way round.
struct State {
    /// `None`: no lane carries it, but datagrams.
    lane: Option<Arc<Lane>>,
    receive: Option<ReceiveInto>,
    outcome: Option<Result<Answer, CallError>>,
    is_done: bool,
    /// Its place among the calls in flight.
    place: Place,
    /// Whether it may be in flight.
    is_admitted: bool,
    /// It is not to be sent any more.
    is_refused: bool,
    sends: u32,
    /// The connection that it was last sent on.
    sent_on: u64,
    /// When it was last sent, or made.
    sent: Instant,
    nonsense: u32,
    waker: Option<Waker>,
    is_parked: bool,
}

/// What a call is made of.
pub(super) struct Parts {
    pub(super) xid: u32,
    pub(super) number: u64,
    pub(super) kind: Kind,
    pub(super) class: Class,
    pub(super) replay: Replay,
    pub(super) outgoing: Outgoing<Payload>,
    pub(super) volume: usize,
    pub(super) receive: Option<ReceiveInto>,
    pub(super) place: Place,
    pub(super) started: Instant,
    pub(super) deadline: Option<Instant>,
    pub(super) looks_again: Option<Duration>,
}

impl Call {
    /// A call that was not sent yet, for this lane.
    pub(super) fn new(parts: Parts, lane: Option<Arc<Lane>>) -> Self {
        let Parts { xid, number, kind, class, replay, outgoing, volume, receive, place, started, .. } = parts;
        let state = State {
            lane,
            receive,
            outcome: None,
            is_done: false,
            place,
            is_admitted: false,
            is_refused: false,
            sends: 0,
            sent_on: 0,
            sent: started,
            nonsense: 0,
            waker: None,
            is_parked: false,
        };
        let wants_data = state.receive.is_some();
        let (state, changed) = (Mutex::new(state), Condvar::new());
        Self {
            xid,
            number,
            kind,
            class,
            replay,
            outgoing,
            volume,
            wants_data,
            started,
            deadline: parts.deadline,
            looks_again: parts.looks_again,
            state,
            changed,
        }
    }

    /// The lane that carries it.
    pub(super) fn lane(&self) -> Option<Arc<Lane>> {
        self.state.lock().lane.clone()
    }

    /// Another lane carries it from now on: who waits follows it there.
    pub(super) fn move_to(&self, lane: &Arc<Lane>) {
        self.state.lock().lane = Some(Arc::clone(lane));
        self.changed.notify_all();
    }

    /// It may be in flight from now on, in this place, unless it is over already.
    pub(super) fn admit(&self, place: impl FnOnce() -> Place) -> bool {
        let mut state = self.state.lock();
        if !state.is_done {
            (state.place, state.is_admitted) = (place(), true);
        }
        !state.is_done
    }

    /// Whether it may be in flight, and is not over.
    pub(super) fn is_to_be_sent(&self) -> bool {
        let state = self.state.lock();
        state.is_admitted && !state.is_done
    }

    /// It is about to be sent on a connection, which happens once at most; gives how often it was before.
    pub(super) fn on_send(&self, link: u64, now: Instant) -> Option<u32> {
        let mut state = self.state.lock();
        if state.sent_on == link || state.is_done || state.is_refused {
            return None;
        }
        state.sent_on = link;
        state.sends += 1;
        state.sent = now;
        Some(state.sends - 1)
    }

    /// It is about to be sent as a datagram; gives how often it was before.
    pub(super) fn on_datagram(&self) -> u32 {
        let mut state = self.state.lock();
        state.sends += 1;
        state.sent = Instant::now();
        state.sends - 1
    }

    /// How often it was sent.
    pub(super) fn sends(&self) -> u32 {
        self.state.lock().sends
    }

    /// When it was last sent, or made.
    pub(super) fn sent_at(&self) -> Instant {
        self.state.lock().sent
    }

    /// What came on its connection was no reply; gives how often that was so.
    pub(super) fn on_nonsense(&self) -> u32 {
        let mut state = self.state.lock();
        state.nonsense += 1;
        state.nonsense
    }

    /// The buffer for the data of its reply, which is coming in.
    pub(super) fn take_receive(&self) -> Option<ReceiveInto> {
        self.state.lock().receive.take()
    }

    /// The buffer again, since the reply broke off.
    pub(super) fn put_back(&self, receive: ReceiveInto) {
        self.state.lock().receive = Some(receive);
    }

    /// Whether there is an outcome, or was.
    pub(super) fn is_done(&self) -> bool {
        self.state.lock().is_done
    }

    /// Whether its caller need not receive on this lane any more: there is an outcome, or another lane carries it.
    pub(super) fn is_over_here(&self, lane: &Arc<Lane>) -> bool {
        let state = self.state.lock();
        state.is_done || state.lane.as_ref().is_none_or(|own| !Arc::ptr_eq(own, lane))
    }

    /// When it is given up, whatever is heard.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Whether its caller may be told that it did not run, or may be made again: a change may have run once it was sent.
    pub(super) fn may_be_refused(&self) -> bool {
        changes_nothing(self.class) || self.sends() == 0
    }

    /// The same, and it is not sent from now on.
    pub(super) fn refuse(&self) -> bool {
        let mut state = self.state.lock();
        state.is_refused |= changes_nothing(self.class) || state.sends == 0;
        state.is_refused
    }

    /// Whether its time is over.
    pub(super) fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// It is over; the first outcome stands. Gives the place that it had.
    pub(super) fn finish(&self, outcome: Result<Answer, CallError>) -> Option<Place> {
        let mut state = self.state.lock();
        if state.is_done {
            return None;
        }
        let place = state.place;
        (state.is_done, state.outcome) = (true, Some(outcome));
        let (waker, is_parked) = (state.waker.take(), state.is_parked);
        drop(state);
        if is_parked {
            self.changed.notify_all();
        }
        if let Some(waker) = waker {
            waker.wake();
        }
        Some(place)
    }

    /// The outcome, or the lane to wait on; none if datagrams carry it.
    pub(super) fn outcome(&self) -> Result<Result<Answer, CallError>, Option<Arc<Lane>>> {
        let mut state = self.state.lock();
        state.outcome.take().ok_or_else(|| state.lane.clone())
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
    pub(super) fn park(&self, lane: Option<&Arc<Lane>>, stay_awake: impl FnOnce() -> bool) {
        let state = self.state.lock();
        let is_there = state.lane.as_ref().map(Arc::as_ptr) == lane.map(Arc::as_ptr);
        if !state.is_done && is_there && !stay_awake() {
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

    /// Wakes who sleeps, to look again; tells whether anybody needs to.
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

/// Whether it does no harm that a call runs though its caller was told to make it again, and later than others.
pub(super) fn changes_nothing(class: Class) -> bool {
    match class {
        Class::Attributes | Class::Lookup | Class::Listing | Class::Read | Class::Commit => true,
        Class::Write | Class::Change => false,
    }
}
