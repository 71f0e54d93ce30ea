//! Our own gauges of a connection, read a hundred times a second from counters that workers keep anyway, so that no call pays
//! for a look at the clock.

use std::time::Duration;

use howdah_tune::Gauges;

use super::processors::Load;
use crate::connection::Connection;

/// For how long a connection counts as active after it moved something.
const ACTIVE_FOR: Duration = Duration::from_secs(1);

/// Sums over the looks at one connection.
#[derive(Debug, Default)]
pub struct Gauge {
    sums: Gauges,
    last: Duration,
    moved: Moved,
    active_at: Option<Duration>,
}

/// What had moved so far: if it is the same next time, nothing did.
#[derive(Debug, Default, PartialEq, Eq)]
struct Moved {
    calls: u64,
    received: u64,
    sent: usize,
}

impl Gauge {
    /// Looks at a connection.
    pub fn look(&mut self, now: Duration, connection: &Connection, processors: Load) {
        let passed = now.saturating_sub(self.last);
        self.last = now;
        let inbox = connection.inbox();
        let moved =
            Moved { calls: inbox.records(), received: inbox.received(), sent: connection.outbox().sent() };
        self.sums.outstanding = u32::try_from(connection.outstanding()).unwrap_or(u32::MAX);
        self.sums.replies_waiting = connection.outbox().waiting() as u64;
        self.sums.calls = moved.calls;
        self.sums.processors_busy = processors.busy;
        self.sums.threads_wanting = processors.threads_wanting;
        if self.sums.outstanding > 0 {
            self.sums.executing += passed;
        }
        if inbox.is_in_mid_call() {
            self.sums.mid_call += passed;
            if moved.received == self.moved.received {
                self.sums.silent += passed;
            }
        }
        if self.sums.replies_waiting > 0 {
            self.sums.held_up += passed;
        }
        if connection.is_paused() {
            self.sums.refused_to_read += passed;
        }
        if moved != self.moved || self.sums.outstanding > 0 || self.sums.replies_waiting > 0 {
            self.active_at = Some(now);
        }
        self.moved = moved;
    }

    /// Whether it moved something of late.
    pub fn is_active(&self, now: Duration) -> bool {
        self.active_at.is_some_and(|at| now.saturating_sub(at) <= ACTIVE_FOR)
    }

    /// The sums so far.
    pub fn sums(&self) -> &Gauges {
        &self.sums
    }
}
