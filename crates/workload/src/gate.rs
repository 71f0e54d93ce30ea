//! Which of a phase's threads may work: all, or as many as the path is measured to want.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use howdah_tune::flight::{Bounds, Flight};
use parking_lot::{Condvar, Mutex};

use super::plan::WorkloadPlan;

/// How long a thread waits before it looks whether all is over. 250 threads that look 50 times a second took a third of the calls
/// that 16 threads make on two processors.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// Lets threads with a low number work.
pub(super) struct Gate {
    /// Measured; without it every thread works.
    flight: Option<Mutex<Flight>>,
    start: Instant,
    open: AtomicUsize,
    /// No work is left.
    is_closed: AtomicBool,
    waiting: Mutex<()>,
    /// Where the thread of each number waits: only those that may work are woken.
    doors: Vec<Condvar>,
}

impl Gate {
    /// As the plan says.
    pub(super) fn of(plan: &WorkloadPlan) -> Self {
        let is_bulk = !plan.workload.is_random() && !plan.workload.is_per_file();
        let usual = if is_bulk { Bounds::default() } else { Bounds::of_threads() };
        let bounds = Bounds { floor: usual.floor.max(plan.threads as usize), ceiling: plan.crew(), ..usual };
        let flight = plan.in_flight.is_none().then(|| Flight::new(bounds));
        let open = flight.as_ref().map_or(usize::MAX, Flight::in_flight_target);
        Self {
            flight: flight.map(Mutex::new),
            start: Instant::now(),
            open: AtomicUsize::new(open),
            is_closed: AtomicBool::new(false),
            waiting: Mutex::new(()),
            doors: (0..=plan.crew()).map(|_| Condvar::new()).collect(),
        }
    }

    /// Waits until the thread of this number may work, or nobody is to. Says whether it may.
    pub(super) fn pass(&self, number: usize, is_over: impl Fn() -> bool) -> bool {
        while number >= self.open.load(Ordering::Relaxed) {
            if self.is_closed.load(Ordering::Relaxed) || is_over() {
                return false;
            }
            let mut waiting = self.waiting.lock();
            if number >= self.open.load(Ordering::Relaxed) && !self.is_closed.load(Ordering::Relaxed) {
                self.doors[number].wait_for(&mut waiting, LOOK_AGAIN);
            }
        }
        !is_over()
    }

    /// A thread found no more work: those that wait need not begin.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
        self.wake(0, usize::MAX);
    }

    /// Does something that moves so many bytes, and opens as far as the path is seen to want. What fails says nothing of it.
    pub(super) fn measure<T, E>(&self, bytes: u64, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let Some(flight) = &self.flight else { return work() };
        let bytes = bytes as usize;
        let started = flight.lock().on_start(self.start.elapsed(), bytes);
        let done = work();
        let (now, mut flight) = (self.start.elapsed(), flight.lock());
        match &done {
            Ok(_) => flight.on_finish(now, started, bytes),
            Err(_) => flight.on_give_up(),
        }
        self.open_to(flight.in_flight_target());
        done
    }

    fn open_to(&self, target: usize) {
        let before = self.open.swap(target, Ordering::Relaxed);
        if before < target {
            self.wake(before, target);
        }
    }

    /// Wakes the threads of these numbers, if they wait.
    fn wake(&self, from: usize, to: usize) {
        // A thread that is about to wait has seen the change, or waits already.
        drop(self.waiting.lock());
        let doors = self.doors.len();
        self.doors[from.min(doors)..to.min(doors)].iter().for_each(|door| {
            door.notify_one();
        });
    }
}
