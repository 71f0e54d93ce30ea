//! How many blocks of large files the path wants at once, as it is measured from the blocks themselves.

use std::time::Instant;

use howdah_tune::flight::{Bounds, Expected, Flight};
use parking_lot::Mutex;

/// Measures blocks on their way.
pub(super) struct BlockFlight {
    start: Instant,
    flight: Mutex<Flight>,
}

impl BlockFlight {
    /// Nothing measured yet, though so much may be expected; never more than so many.
    pub(super) fn new(most: usize, expected: Option<Expected>) -> Self {
        let bounds = Bounds { ceiling: most.max(1), expected, ..Bounds::of_threads() };
        Self { start: Instant::now(), flight: Mutex::new(Flight::new(bounds)) }
    }

    /// Moves a block of so many bytes, and says how many the path wants at once. A block that fails says nothing of the path.
    pub(super) fn measure<T, E>(
        &self,
        bytes: u64,
        move_block: impl FnOnce() -> Result<T, E>,
    ) -> (Result<T, E>, usize) {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let started = self.flight.lock().on_start(self.start.elapsed(), bytes);
        let moved = move_block();
        let now = self.start.elapsed();
        let mut flight = self.flight.lock();
        match &moved {
            Ok(_) => flight.on_finish(now, started, bytes),
            Err(_) => flight.on_give_up(),
        }
        (moved, flight.in_flight_target())
    }

    /// Whether no block is on its way.
    pub(super) fn is_idle(&self) -> bool {
        self.flight.lock().in_flight() == 0
    }
}
