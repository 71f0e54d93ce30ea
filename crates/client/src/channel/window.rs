//! How much is in flight: bulk calls by what the path is measured to hold, all others by a number. Calls beyond it wait
//! here, in order, and go out when others are answered.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use howdah_rpc::client::Class;
use howdah_tune::flight::{Bounds, Choice, Flight, Started};
use parking_lot::Mutex;

use super::ChannelOptions;
use super::call::Call;

/// The most calls in flight that move no bulk data: at 100 ms, 10,000 a second. Each caller has a thread, of which a copy has 256.
const SMALL_CALLS_MAX: usize = 1024;

/// What is in flight, and what waits to be.
///
/// Its lock may be held while a call's is taken, never the other way round.
pub(super) struct Window {
    state: Mutex<State>,
}

struct State {
    bulk: Flight,
    small: usize,
    waiting_bulk: VecDeque<Arc<Call>>,
    waiting_small: VecDeque<Arc<Call>>,
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
        let mut bounds = Bounds { memory_budget: options.memory_budget, ..Bounds::default() };
        if let Some(count) = options.in_flight {
            (bounds.floor, bounds.ceiling) = (count.max(1), count.max(1));
        }
        let (waiting_bulk, waiting_small) = Default::default();
        let state = State { bulk: Flight::new(bounds), small: 0, waiting_bulk, waiting_small };
        Self { state: Mutex::new(state) }
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

    /// The calls that wait and whose time is over.
    pub(super) fn take_late(&self) -> Vec<Arc<Call>> {
        let mut state = self.state.lock();
        let State { waiting_bulk, waiting_small, .. } = &mut *state;
        let mut late = Vec::new();
        for line in [waiting_bulk, waiting_small] {
            // They wait in the order in which they were made, and each has as much time.
            while line.front().is_some_and(|call| call.is_late()) {
                late.extend(line.pop_front());
            }
        }
        late
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
        admitted
    }

    /// Bulk calls in flight, and whether others wait to be.
    pub(super) fn glance(&self) -> (usize, bool) {
        let state = self.state.lock();
        (state.bulk.in_flight(), !state.waiting_bulk.is_empty())
    }

    /// How long the bulk that is in flight takes to arrive; nothing while its rate is not known.
    pub(super) fn bulk_takes(&self) -> Duration {
        let state = self.state.lock();
        let rate = state.bulk.explain().rate;
        let seconds = if rate > 0.0 { state.bulk.in_flight() as f64 / rate } else { 0.0 };
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }

    /// Bulk calls in flight, and how many may be.
    pub(super) fn explain(&self) -> (usize, Choice) {
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
