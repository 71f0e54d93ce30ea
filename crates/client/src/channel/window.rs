//! How much is in flight: bulk calls by what the path is measured to hold, all others by a number. Calls beyond it wait
//! here, in order, and go out when others are answered.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use howdah_rpc::client::Class;
use howdah_rpc::client::flight::{Explanation, Flight, Limits, Started};
use parking_lot::{Condvar, Mutex};

use super::ChannelOptions;
use super::call::Call;

/// The most calls in flight that move no bulk data: more than the threads of any server, few enough that their replies
/// are no burden.
const SMALL_CALLS_MAX: usize = 128;

/// How long a thread waits for room before it looks again.
const TICK: Duration = Duration::from_millis(20);

/// What is in flight, and what waits to be.
///
/// Its lock may be held while a call's is taken, never the other way round.
pub(super) struct Window {
    state: Mutex<State>,
    room: Condvar,
}

struct State {
    bulk: Flight,
    small: usize,
    waiting_bulk: VecDeque<Arc<Call>>,
    waiting_small: VecDeque<Arc<Call>>,
    /// Threads that wait for room to make a call.
    threads: usize,
}

/// A place in the window, to be given back.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    /// Of a bulk call.
    Bulk(Started),
    /// Of another one.
    Small,
    /// Of a call that has none, or needs none.
    None,
}

impl Window {
    /// An empty window of a channel with these options.
    pub(super) fn new(options: &ChannelOptions) -> Self {
        let mut limits = Limits { memory_budget: options.memory_budget, ..Limits::default() };
        if let Some(count) = options.in_flight {
            (limits.floor, limits.ceiling) = (count.max(1), count.max(1));
        }
        let (waiting_bulk, waiting_small) = Default::default();
        let state = State { bulk: Flight::new(limits), small: 0, waiting_bulk, waiting_small, threads: 0 };
        Self { state: Mutex::new(state), room: Condvar::new() }
    }

    /// Gives a call a place, or has it wait for one; tells whether it may go.
    pub(super) fn enter(&self, call: &Arc<Call>, now: Duration) -> bool {
        let mut state = self.state.lock();
        if state.waiting(call.class).is_empty() && state.has_room(call.class) {
            return call.admit(|| state.take(call.class, call.volume, now));
        }
        state.waiting(call.class).push_back(Arc::clone(call));
        false
    }

    /// Gives a place to a call that is not made yet, if there is room and nobody waits for it.
    pub(super) fn try_enter(&self, class: Class, bytes: usize, now: Duration) -> Option<Place> {
        let mut state = self.state.lock();
        if !state.waiting(class).is_empty() || !state.has_room(class) {
            return None;
        }
        Some(state.take(class, bytes, now))
    }

    /// Waits a while for room.
    pub(super) fn wait(&self, class: Class) {
        let mut state = self.state.lock();
        if !state.has_room(class) {
            state.threads += 1;
            self.room.wait_for(&mut state, TICK);
            state.threads -= 1;
        }
    }

    /// Gives a place back, and gives the calls that may go now. `moved` says how many bytes the call moved, if it was
    /// answered.
    pub(super) fn leave(&self, place: Place, moved: Option<usize>, now: Duration) -> Vec<Arc<Call>> {
        let mut state = self.state.lock();
        match (place, moved) {
            (Place::Bulk(started), Some(bytes)) => state.bulk.on_finish(now, started, bytes),
            (Place::Bulk(_), None) => state.bulk.on_give_up(),
            (Place::Small, _) => state.small -= 1,
            (Place::None, _) => return Vec::new(),
        }
        let mut admitted = Vec::new();
        while let Some(call) = state.next(place) {
            if call.admit(|| state.take(call.class, call.volume, now)) {
                admitted.push(call);
            }
        }
        if state.threads > 0 {
            self.room.notify_one();
        }
        admitted
    }

    /// Bulk calls in flight, and how many may be.
    pub(super) fn explain(&self) -> (usize, Explanation) {
        let state = self.state.lock();
        (state.bulk.in_flight(), state.bulk.explain())
    }
}

impl State {
    fn has_room(&self, class: Class) -> bool {
        if class.is_bulk() {
            self.bulk.in_flight() < self.bulk.in_flight_target()
        } else {
            self.small < SMALL_CALLS_MAX
        }
    }

    fn waiting(&mut self, class: Class) -> &mut VecDeque<Arc<Call>> {
        if class.is_bulk() { &mut self.waiting_bulk } else { &mut self.waiting_small }
    }

    fn take(&mut self, class: Class, bytes: usize, now: Duration) -> Place {
        if class.is_bulk() {
            return Place::Bulk(self.bulk.on_start(now, bytes));
        }
        self.small += 1;
        Place::Small
    }

    /// The next call that waits for such a place, if there is room for it.
    fn next(&mut self, place: Place) -> Option<Arc<Call>> {
        let line = match place {
            Place::Bulk(_) => &self.waiting_bulk,
            _ => &self.waiting_small,
        };
        if !self.has_room(line.front()?.class) {
            return None;
        }
        match place {
            Place::Bulk(_) => self.waiting_bulk.pop_front(),
            _ => self.waiting_small.pop_front(),
        }
    }
}
