//! What wakes the thread of a lane: a wake-up that is never lost, and a look, without a lock, at whether it sleeps.

use std::time::Duration;

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Condvar, Mutex};

/// Wakes the thread of a lane.
#[derive(Default)]
pub struct Wakeup {
    is_pending: Mutex<bool>,
    changed: Condvar,
    is_asleep: AtomicBool,
}

impl Wakeup {
    /// Wakes the thread, or keeps it from going to sleep.
    pub fn wake(&self) {
        *self.is_pending.lock() = true;
        self.changed.notify_one();
    }

    /// Wakes the thread if it sleeps for lack of calls.
    pub fn wake_sleeper(&self) {
        if self.is_asleep.load(Ordering::SeqCst) {
            self.wake();
        }
    }

    /// Waits to be woken, at most so long.
    pub fn wait(&self, most: Duration) {
        let mut is_pending = self.is_pending.lock();
        if !*is_pending {
            self.changed.wait_for(&mut is_pending, most);
        }
        *is_pending = false;
    }

    /// Waits to be woken, unless `stay_awake` once everybody sees that we sleep.
    pub fn sleep(&self, stay_awake: impl FnOnce() -> bool) {
        self.is_asleep.store(true, Ordering::SeqCst);
        if !stay_awake() {
            self.wait(Duration::from_secs(3600));
        }
        self.is_asleep.store(false, Ordering::SeqCst);
    }
}
