//! Spreads a window over a round trip. Where the round trip is shorter than a timer's grain, that is at once.

use std::time::{Duration, Instant};

/// Timers are not finer: what would leave within it leaves together.
const GRAIN: Duration = Duration::from_millis(1);

/// When the next datagram may leave.
#[derive(Debug, Default)]
pub(super) struct Pacer {
    /// When it would leave if all were spread evenly.
    next: Option<Instant>,
}

impl Pacer {
    /// `None`: now; else when.
    pub(super) fn blocked_until(&self, now: Instant) -> Option<Instant> {
        let at = self.next?.checked_sub(GRAIN)?;
        (at > now).then_some(at)
    }

    /// One left; the next one should follow after that gap.
    pub(super) fn sent(&mut self, now: Instant, gap: Duration) {
        self.next = Some(self.next.map_or(now, |next| next.max(now)) + gap);
    }
}
