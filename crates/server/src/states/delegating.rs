//! Changes of files of which clients may have delegations.

use std::sync::atomic::Ordering;
use std::time::Instant;

use howdah_state::{Changing, ClientId, StateError, StateId};
use howdah_wire::nfs4::Status;
use parking_lot::{Condvar, Mutex, MutexGuard};

use super::file_key::FileKey;
use super::states::States;
use crate::limits::{RECALL_PATIENCE, RECALL_WAITERS_MAX};

/// Delegations that come back, and calls that wait for that: a client that is told to come again does so in 5 s only (Linux over
/// NFSv3), and most delegations are back in one round trip.
#[derive(Debug, Default)]
pub(super) struct Returns {
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
    fn tell(&self) {
        self.line.lock().returned += 1;
        self.came.notify_all();
    }

    /// Waits for a little while until this is so; whether it is. Only few calls wait: each holds a thread.
    fn wait_until(&self, is_so: impl Fn() -> bool) -> bool {
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

impl States {
    /// Whether whoever changes files of an export must say so before, which gives delegations or does not: some may still be
    /// outstanding.
    pub(super) fn are_changes_watched(&self, delegates: bool) -> bool {
        delegates || self.changes.is_used()
    }

    /// A change of a file begins, by a client of NFSv4 or by somebody else. It is over when what is returned is dropped.
    ///
    /// # Errors
    /// [`StateError::Delay`] while delegations are asked for back; and for all but clients of NFSv4 while those of an earlier run may
    /// believe that they have one.
    pub(super) fn begin_change(
        &self,
        file: &FileKey,
        by: Option<ClientId>,
    ) -> Result<Changing<'_>, StateError> {
        if by.is_none() && self.is_grace.load(Ordering::Relaxed) {
            return Err(StateError::Delay);
        }
        let change = self.changes.begin(file);
        let recall = || self.ask(|state, now| state.recall(now, file, by));
        if change.may_be_delegated() {
            recall().or_else(|refusal| {
                if self.returns.wait_until(|| recall().is_ok()) { Ok(()) } else { Err(refusal) }
            })?;
        }
        Ok(change)
    }

    /// A client gives its delegation of a file back.
    ///
    /// # Errors
    /// Why the state refuses.
    pub fn return_delegation(
        &self,
        client: ClientId,
        delegation: StateId,
        file: &FileKey,
    ) -> Result<(), Status> {
        let returned = self.judge(|state, _| state.return_delegation(client, delegation, file));
        self.returns.tell();
        returned
    }

    /// Gives a client that was just let open a file for reading a delegation of it, if it may have one.
    pub fn delegate(&self, client: ClientId, file: &FileKey) -> Option<StateId> {
        self.ask(|state, now| Ok(state.delegate(now, client, file))).ok().flatten()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

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
