//! How much is in flight: bulk calls by what the path is measured to hold, all others by a number. Calls beyond it wait
//! here, in order, and go out when others are answered.

use std::collections::VecDeque;
use std::time::Duration;

use howdah_tune::flight::{Bounds, Choice, Expected, Flight, Started};

use super::span::CallSpan;
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
    /// Calls that ever wanted a place.
    entered: u64,
    span: CallSpan,
}

/// A call that waits for its place.
#[derive(Debug)]
struct Waiting<C> {
    call: C,
    /// Bytes of bulk that it moves, or may.
    volume: usize,
    /// Which one it is of all.
    number: u64,
}

/// A place in the window, to be given back.
#[derive(Debug, Clone, Copy)]
pub enum Place {
    /// Of a bulk call, and which call it is of all that had a place.
    Bulk(Started, u64),
    /// Of another one.
    Small(u64),
    /// Of a call that has none, or needs none.
    None,
}

impl<C: PartialEq> Window<C> {
    /// An empty window.
    pub fn new(bounds: Bounds) -> Self {
        let (waiting_bulk, waiting_small) = Default::default();
        Self {
            bulk: Flight::new(bounds),
            small: 0,
            waiting_bulk,
            waiting_small,
            entered: 0,
            span: CallSpan::default(),
        }
    }

    /// No call is further behind the latest one than this from now on, of all kinds together. A larger number than before does not
    /// count.
    pub fn limit(&mut self, most: usize) {
        self.span.limit(most);
    }

    /// Whether there is such a limit, which time alone may lift.
    pub fn is_limited(&self) -> bool {
        self.span.is_limited()
    }

    /// It is so late now.
    pub fn on_time(&mut self, now: Duration) {
        self.span.on_time(now);
    }

    /// The path is expected to carry so much.
    pub fn expect(&mut self, expected: Option<Expected>) {
        self.bulk.expect(expected);
    }

    /// A call wants a place, which [`Window::next`] gives it.
    pub fn enter(&mut self, call: C, (class, volume): (Class, usize)) {
        let number = self.entered;
        self.entered += 1;
        self.waiting(class.is_bulk()).push_back(Waiting { call, volume, number });
    }

    /// The next call that may go out.
    pub fn peek(&self) -> Option<&C> {
        let waiting = if self.next_kind()? { &self.waiting_bulk } else { &self.waiting_small };
        waiting.front().map(|waiting| &waiting.call)
    }

    /// The next call that may go out, and its place.
    pub fn next(&mut self, now: Duration) -> Option<(C, Place)> {
        let is_bulk = self.next_kind()?;
        let Waiting { call, volume, .. } = self.waiting(is_bulk).pop_front()?;
        let number = self.span.enter(now);
        let place = if is_bulk {
            Place::Bulk(self.bulk.on_start(now, volume), number)
        } else {
            self.small += 1;
            Place::Small(number)
        };
        Some((call, place))
    }

    /// A call that waits wants no place any more.
    pub fn forget(&mut self, call: &C, class: Class) {
        let waiting = self.waiting(class.is_bulk());
        if let Some(at) = waiting.iter().position(|waiting| waiting.call == *call) {
            waiting.remove(at);
        }
    }

    /// A call gives its place back. `moved` says how many bytes it moved, if it was answered.
    pub fn leave(&mut self, place: Place, moved: Option<usize>, now: Duration) {
        if let Place::Bulk(_, number) | Place::Small(number) = place {
            self.span.leave(number);
        }
        match (place, moved) {
            (Place::Bulk(started, _), Some(bytes)) => self.bulk.on_finish(now, started, bytes),
            (Place::Bulk(..), None) => self.bulk.on_give_up(),
            (Place::Small(_), _) => self.small -= 1,
            (Place::None, _) => {}
        }
    }

    /// Other calls than bulk in flight.
    pub fn small(&self) -> usize {
        self.small
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

    /// Whether the next one is bulk, if any may go out.
    fn next_kind(&self) -> Option<bool> {
        if !self.span.has_room() {
            return None;
        }
        let has_room = self.bulk.in_flight() < self.bulk.in_flight_target();
        let small = self.waiting_small.front().filter(|_| self.small < SMALL_CALLS_MAX);
        match (small, self.waiting_bulk.front().filter(|_| has_room)) {
            (None, None) => None,
            // In the order in which they came: a session's tickets are for both.
            (Some(small), Some(bulk)) => Some(bulk.number < small.number),
            (_, bulk) => Some(bulk.is_some()),
        }
    }

    fn waiting(&mut self, is_bulk: bool) -> &mut VecDeque<Waiting<C>> {
        if is_bulk { &mut self.waiting_bulk } else { &mut self.waiting_small }
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
        window.enter(call, (class, if class.is_bulk() { MIB } else { 0 }));
        let next = window.next(Duration::ZERO);
        next.map(|(admitted, place)| {
            assert_eq!(admitted, call);
            place
        })
    }

    #[test]
    fn calls_beyond_it_go_in_the_order_in_which_they_came() {
        let mut window = window();
        let places: Vec<_> = (0..5).map(|call| enter(&mut window, call, Class::Write)).collect();
        assert_eq!(places.iter().flatten().count(), 2);
        assert_eq!(window.glance(), (2, true));
        let second = Duration::from_secs(1);
        window.leave(places[0].expect("a place"), Some(MIB), second);
        assert_eq!(window.next(second).map(|(call, _)| call), Some(2));
        // One that does not want to go any more makes room for the next.
        window.forget(&3, Class::Write);
        window.leave(places[1].expect("a place"), None, second);
        assert_eq!(window.next(second).map(|(call, _)| call), Some(4));
        assert_eq!(window.peek(), None);
        assert_eq!(window.glance(), (2, false));
    }

    #[test]
    fn a_limit_counts_calls_of_both_kinds_from_the_first_that_is_not_answered() {
        let mut window = window();
        window.limit(3);
        let places: Vec<_> = (0..2).map(|call| enter(&mut window, call, Class::Write)).collect();
        assert!(enter(&mut window, 2, Class::Lookup).is_some());
        window.enter(3, (Class::Lookup, 0));
        assert_eq!(window.peek(), None);
        window.leave(places[1].expect("a place"), Some(MIB), Duration::ZERO);
        assert_eq!(window.peek(), None);
        window.leave(places[0].expect("a place"), Some(MIB), Duration::ZERO);
        assert_eq!(window.peek(), Some(&3));
    }

    #[test]
    fn calls_of_both_kinds_that_may_go_do_so_in_the_order_in_which_they_came() {
        let mut window = window();
        for (call, class) in [(0, Class::Lookup), (1, Class::Write), (2, Class::Lookup), (3, Class::Write)] {
            window.enter(call, (class, MIB));
        }
        let order: Vec<_> =
            std::iter::from_fn(|| window.next(Duration::ZERO)).map(|(call, _)| call).collect();
        assert_eq!(order, [0, 1, 2, 3]);
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
}
