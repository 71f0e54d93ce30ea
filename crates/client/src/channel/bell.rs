//! What wakes the thread beside a lane: a ring that is never lost, and a look, without a lock, at whether it sleeps.

use std::time::Duration;

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Condvar, Mutex};

/// Wakes a tender.
#[derive(Default)]
pub struct Bell {
    has_rung: Mutex<bool>,
    rings: Condvar,
    is_asleep: AtomicBool,
}

impl Bell {
    /// Wakes the tender, or keeps it from going to sleep.
    pub fn ring(&self) {
        *self.has_rung.lock() = true;
        self.rings.notify_one();
    }

    /// Wakes the tender if it sleeps for lack of calls.
    pub fn wake_sleeper(&self) {
        if self.is_asleep.load(Ordering::SeqCst) {
            self.ring();
        }
    }

    /// Waits for a ring, at most so long.
    pub fn wait(&self, most: Duration) {
        let mut has_rung = self.has_rung.lock();
        if !*has_rung {
            self.rings.wait_for(&mut has_rung, most);
        }
        *has_rung = false;
    }

    /// Waits for a ring, unless `stay_awake` once everybody sees that we sleep.
    pub fn sleep(&self, stay_awake: impl FnOnce() -> bool) {
        self.is_asleep.store(true, Ordering::SeqCst);
        if !stay_awake() {
            self.wait(Duration::from_secs(3600));
        }
        self.is_asleep.store(false, Ordering::SeqCst);
    }
}
