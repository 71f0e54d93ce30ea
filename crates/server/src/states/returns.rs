//! Calls that wait for delegations to come back: a client that is asked to try again does so after 5 s only (Linux over NFSv3),
//! and most delegations are back in one round trip.

use std::time::Instant;

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::limits::{RECALL_PATIENCE, RECALL_WAITERS_MAX};

/// Delegations that come back, and calls that wait for that.
#[derive(Debug, Default)]
pub struct Returns {
    line: Mutex<Line>,
    came: Condvar,
}

#[derive(Debug, Default)]
struct Line {
    /// Calls that wait.
    waiting: usize,
    /// Delegations that came back so far.
    returned: u64,
}

impl Returns {
    /// One came back.
    pub fn tell(&self) {
        self.line.lock().returned += 1;
        self.came.notify_all();
    }

    /// Waits for a little while until this is so; whether it is. Only few calls wait: each holds a thread.
    pub fn wait_until(&self, is_so: impl Fn() -> bool) -> bool {
        let give_up = Instant::now() + RECALL_PATIENCE;
        let mut line = self.line.lock();
        if line.waiting >= RECALL_WAITERS_MAX {
            return false;
        }
        line.waiting += 1;
        let mut is_late = false;
        let outcome = loop {
            let seen = line.returned;
            // Asked with the lock let go: who gives a delegation back takes it.
            if MutexGuard::unlocked(&mut line, &is_so) {
                break true;
            }
            if is_late {
                break false;
            }
            let none_came = |line: &mut Line| line.returned == seen;
            is_late = self.came.wait_while_until(&mut line, none_came, give_up).timed_out();
        };
        line.waiting -= 1;
        outcome
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn who_waits_is_woken_by_what_comes_back() {
        let (returns, is_back) = (Returns::default(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| returns.wait_until(|| is_back.load(Ordering::SeqCst)));
            is_back.store(true, Ordering::SeqCst);
            returns.tell();
            assert!(waits.join().expect("it ends"));
        });
        assert_eq!(returns.line.lock().waiting, 0);
    }

    #[test]
    fn only_few_wait_and_not_for_long() {
        let returns = Returns::default();
        assert!(!returns.wait_until(|| false));
        returns.line.lock().waiting = RECALL_WAITERS_MAX;
        assert!(!returns.wait_until(|| panic!("it does not wait")));
        assert_eq!(returns.line.lock().waiting, RECALL_WAITERS_MAX);
    }
}
