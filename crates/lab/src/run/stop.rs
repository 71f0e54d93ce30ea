//! Whether everything is to end, and what has to be woken for it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use rustix::process::{Pid, Signal, kill_process_group};

/// Asked once, it stays so. Process groups that were added to it are ended then.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    asked: bool,
    groups: BTreeSet<i32>,
}

impl Stop {
    /// Nobody asked yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends what runs, and lets nothing else begin.
    pub fn stop(&self) {
        self.0.state.lock().asked = true;
        self.0.changed.notify_all();
        self.end_all();
    }

    /// Ends what runs now, at once: a client that was asked in words would clear up first, on a server that is ending too, and
    /// nothing of a cell outlives it anyway.
    pub(super) fn end_all(&self) {
        // Those that end leave the list by themselves, under the same lock: an id here belongs to a process that was not
        // waited for.
        for group in self.0.state.lock().groups.iter().copied().filter_map(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// Waits so long, or until it is asked; true: it was.
    pub(super) fn wait(&self, time: Duration) -> bool {
        let then = Instant::now() + time;
        let mut state = self.0.state.lock();
        while !state.asked && !self.0.changed.wait_until(&mut state, then).timed_out() {}
        state.asked
    }

    /// Whether it was asked.
    pub fn is_asked(&self) -> bool {
        self.0.state.lock().asked
    }

    /// A group that is to be ended with everything else. If that was asked already it is ended at once.
    pub(super) fn add(&self, group: Pid) {
        let mut state = self.0.state.lock();
        state.groups.insert(group.as_raw_nonzero().get());
        if state.asked {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// Called before the group's leader is waited for: its id may be another's afterwards.
    pub(super) fn remove(&self, group: Pid) {
        self.0.state.lock().groups.remove(&group.as_raw_nonzero().get());
    }
}
