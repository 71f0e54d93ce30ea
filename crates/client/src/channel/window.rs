//! How much is in flight: bulk calls by what the path is measured to hold, all others by a number.

use std::time::Duration;

use howdah_rpc::client::Class;
use howdah_rpc::client::flight::{Explanation, Flight, Limits, Started};
use parking_lot::{Condvar, Mutex};

use super::ChannelOptions;

/// The most calls in flight that move no bulk data: more than the threads of any server, few enough that their replies
/// are no burden.
const SMALL_CALLS_MAX: usize = 128;
/// How long to wait for room before looking who receives.
const TICK: Duration = Duration::from_millis(20);

/// What is in flight.
pub(super) struct Window {
    state: Mutex<State>,
    room: Condvar,
}

struct State {
    bulk: Flight,
    small: usize,
    waiting: usize,
}

/// A place in the window, to be given back.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    /// Of a bulk call.
    Bulk(Started),
    /// Of another one.
    Small,
    /// Of a call that takes none.
    None,
}

impl Window {
    /// An empty window of a channel with these options.
    pub(super) fn new(options: &ChannelOptions) -> Self {
        let mut limits = Limits { memory_budget: options.memory_budget, ..Limits::default() };
        if let Some(count) = options.in_flight {
            (limits.floor, limits.ceiling) = (count.max(1), count.max(1));
        }
        let state = State { bulk: Flight::new(limits), small: 0, waiting: 0 };
        Self { state: Mutex::new(state), room: Condvar::new() }
    }

    /// Takes a place for a call that moves so many bytes, if there is room.
    pub(super) fn enter(&self, class: Class, bytes: usize, now: Duration) -> Option<Place> {
        let mut state = self.state.lock();
        if !state.has_room(class) {
            return None;
        }
        Some(if class.is_bulk() {
            Place::Bulk(state.bulk.on_start(now, bytes))
        } else {
            state.small += 1;
            Place::Small
        })
    }

    /// Whether a call of that class may start.
    pub(super) fn has_room(&self, class: Class) -> bool {
        self.state.lock().has_room(class)
    }

    /// Waits a while for room.
    pub(super) fn wait(&self, class: Class) {
        let mut state = self.state.lock();
        if !state.has_room(class) {
            state.waiting += 1;
            self.room.wait_for(&mut state, TICK);
            state.waiting -= 1;
        }
    }

    /// Gives a place back. `moved` says how many bytes the call moved, if it was answered.
    pub(super) fn leave(&self, place: Place, moved: Option<usize>, now: Duration) {
        let mut state = self.state.lock();
        match (place, moved) {
            (Place::Bulk(started), Some(bytes)) => state.bulk.on_finish(now, started, bytes),
            (Place::Bulk(_), None) => state.bulk.on_give_up(),
            (Place::Small, _) => state.small -= 1,
            (Place::None, _) => return,
        }
        if state.waiting > 0 {
            self.room.notify_all();
        }
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
}
