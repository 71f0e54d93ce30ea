//! How much is in flight: bulk calls by what the path is measured to hold, all others by a number. Calls beyond it wait
//! here, in order, and go out when others are answered.

use std::collections::VecDeque;
use std::time::Duration;

use howdah_tune::flight::{Bounds, Choice, Expected, Flight, Started};

use crate::client::Class;

/// The most calls in flight that move no bulk data: at 100 ms, 20,000 a second. Each caller has a thread; a copy has as many.
const SMALL_CALLS_MAX: usize = 2048;

/// What is in flight, and what waits to be: `C` is the caller's word for a call.
#[derive(Debug)]
pub struct Window<C> {
    bulk: Flight,
    small: usize,
    waiting_bulk: VecDeque<Waiting<C>>,
    waiting_small: VecDeque<Waiting<C>>,
}

/// A call that waits for its place.
#[derive(Debug)]
struct Waiting<C> {
    call: C,
    /// Bytes of bulk that it moves, or may.
    volume: usize,
}

/// A place in the window, to be given back.
#[derive(Debug, Clone, Copy)]
pub enum Place {
    /// Of a bulk call.
    Bulk(Started),
    /// Of another one.
    Small,
    /// Of a call that has none, or needs none.
    None,
}

impl<C> Window<C> {
    /// An empty window.
    pub fn new(bounds: Bounds) -> Self {
        let (waiting_bulk, waiting_small) = Default::default();
        Self { bulk: Flight::new(bounds), small: 0, waiting_bulk, waiting_small }
    }

    /// The path is expected to carry so much.
    pub fn expect(&mut self, expected: Option<Expected>) {
        self.bulk.expect(expected);
    }

    /// A call wants a place: it has one at once, or waits. `admit` is given the place, and says whether the call still wants it.
    /// Says whether it may go.
    pub fn enter(
        &mut self,
        call: C,
        (class, volume): (Class, usize),
        now: Duration,
        admit: impl FnOnce(&C, Place) -> bool,
    ) -> bool {
        let is_bulk = class.is_bulk();
        if self.waiting(is_bulk).is_empty() && self.has_room(is_bulk) {
            return self.admit(&call, (is_bulk, volume), now, admit);
        }
        self.waiting(is_bulk).push_back(Waiting { call, volume });
        false
    }

    /// The calls that wait and whose time is over, as far as `is_late` says so of the first ones: they wait in the order in which they
    /// were made, and each has as much time.
    pub fn take_late(&mut self, is_late: impl Fn(&C) -> bool) -> Vec<C> {
        let mut late = Vec::new();
        for line in [&mut self.waiting_bulk, &mut self.waiting_small] {
            while line.front().is_some_and(|waiting| is_late(&waiting.call)) {
                late.extend(line.pop_front().map(|waiting| waiting.call));
            }
        }
        late
    }

    /// Gives a place back, and gives the calls that may go now; `admit` is as in [`Self::enter`]. `moved` says how many bytes the call
    /// moved, if it was answered.
    pub fn leave(
        &mut self,
        place: Place,
        moved: Option<usize>,
        now: Duration,
        mut admit: impl FnMut(&C, Place) -> bool,
    ) -> Vec<C> {
        let is_bulk = match place {
            Place::None => return Vec::new(),
            Place::Bulk(_) => true,
            Place::Small => false,
        };
        self.give_back(place, moved, now);
        let mut admitted = Vec::new();
        while self.has_room(is_bulk)
            && let Some(Waiting { call, volume }) = self.waiting(is_bulk).pop_front()
        {
            if self.admit(&call, (is_bulk, volume), now, &mut admit) {
                admitted.push(call);
            }
        }
        admitted
    }

    /// Bulk calls in flight, and whether others wait to be.
    pub fn glance(&self) -> (usize, bool) {
        (self.bulk.in_flight(), !self.waiting_bulk.is_empty())
    }

    /// How long the bulk that is in flight takes to arrive; nothing while its rate is not known.
    pub fn bulk_takes(&self) -> Duration {
        let rate = self.bulk.explain().rate;
        let seconds = if rate > 0.0 { self.bulk.in_flight() as f64 / rate } else { 0.0 };
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }

    /// Bulk calls in flight, and how many may be.
    pub fn explain(&self) -> (usize, Choice) {
        (self.bulk.in_flight(), self.bulk.explain())
    }

    fn has_room(&self, is_bulk: bool) -> bool {
        match is_bulk {
            true => self.bulk.in_flight() < self.bulk.in_flight_target(),
            false => self.small < SMALL_CALLS_MAX,
        }
    }

    fn waiting(&mut self, is_bulk: bool) -> &mut VecDeque<Waiting<C>> {
        if is_bulk { &mut self.waiting_bulk } else { &mut self.waiting_small }
    }

    fn admit(
        &mut self,
        call: &C,
        (is_bulk, volume): (bool, usize),
        now: Duration,
        admit: impl FnOnce(&C, Place) -> bool,
    ) -> bool {
        let place = if is_bulk {
            Place::Bulk(self.bulk.on_start(now, volume))
        } else {
            self.small += 1;
            Place::Small
        };
        let is_wanted = admit(call, place);
        if !is_wanted {
            self.give_back(place, None, now);
        }
        is_wanted
    }

    fn give_back(&mut self, place: Place, moved: Option<usize>, now: Duration) {
        match (place, moved) {
            (Place::Bulk(started), Some(bytes)) => self.bulk.on_finish(now, started, bytes),
            (Place::Bulk(_), None) => self.bulk.on_give_up(),
            (Place::Small, _) => self.small -= 1,
            (Place::None, _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    /// A window of two bulk calls.
    fn window() -> Window<u32> {
        Window::new(Bounds { floor: 2, ceiling: 2, ..Bounds::default() })
    }

    /// Lets a call in; its place if it has one.
    fn enter(window: &mut Window<u32>, call: u32, class: Class) -> Option<Place> {
        let mut given = None;
        let volume = if class.is_bulk() { MIB } else { 0 };
        window.enter(call, (class, volume), Duration::ZERO, |_, place| given.replace(place).is_none());
        given
    }

    #[test]
    fn calls_beyond_it_go_in_the_order_in_which_they_came() {
        let mut window = window();
        let places: Vec<_> = (0..5).map(|call| enter(&mut window, call, Class::Write)).collect();
        assert_eq!(places.iter().flatten().count(), 2);
        assert_eq!(window.glance(), (2, true));
        let place = places[0].expect("a place");
        assert_eq!(window.leave(place, Some(MIB), Duration::from_secs(1), |_, _| true), [2]);
        // Whoever does not want to go any more makes room for the next.
        let place = places[1].expect("a place");
        assert_eq!(window.leave(place, None, Duration::from_secs(1), |call, _| *call != 3), [4]);
        assert_eq!(window.glance(), (2, false));
    }

    #[test]
    fn small_calls_do_not_wait_for_bulk() {
        let mut window = window();
        (0..9).for_each(|call| {
            enter(&mut window, call, Class::Read);
        });
        assert!(enter(&mut window, 9, Class::Lookup).is_some());
        let small =
            (10..10 + SMALL_CALLS_MAX as u32).filter_map(|call| enter(&mut window, call, Class::Lookup));
        assert_eq!(small.count(), SMALL_CALLS_MAX - 1);
    }

    #[test]
    fn those_whose_time_is_over_leave_the_line() {
        let mut window = window();
        (0..6).for_each(|call| {
            enter(&mut window, call, Class::Write);
        });
        assert_eq!(window.take_late(|call| *call < 4), [2, 3]);
        assert_eq!(window.take_late(|call| *call > 4), [0; 0], "the first one has time left");
    }
}
