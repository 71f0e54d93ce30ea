//! Whether a larger window is worth it: as long as answers come faster for it. What goes beyond only fills queues, in
//! switches that drop what they cannot hold and at disks that others wait for too.

use std::time::{Duration, Instant};

use super::window::Amount;

/// A window is worth it if it brings so much more.
const MORE: f64 = 1.1;
/// Beyond the window that was last worth it, this much is tried.
const TRY: f64 = 1.5;
/// The same where answers already take longer than the path does.
const TRY_STANDING: f64 = 1.25;
/// After that time without a better rate, a much worse one counts as how things are now.
const STALE: Duration = Duration::from_secs(10);
const WORSE: f64 = 0.8;

/// The best rate seen, and the window that brought it.
#[derive(Debug)]
pub(super) struct Worth {
    /// The round ends when a call is answered that was sent after this sending.
    mark: u64,
    /// When the round began, and what was delivered by then.
    began: (Instant, u64),
    best: f64,
    reached: Instant,
    useful: Amount,
}

impl Worth {
    pub(super) fn new(now: Instant, start: Amount) -> Self {
        Self { mark: 0, began: (now, 0), best: 0.0, reached: now, useful: start }
    }

    /// Nothing was on the way, and now a call is sent after `latest`: the time before says nothing about rates.
    pub(super) fn begin(&mut self, now: Instant, latest: u64, delivered: u64) {
        (self.mark, self.began) = (latest, (now, delivered));
    }

    /// A call, sent as the `order`-th of `latest`, was answered; so many bytes are delivered now, in all, with a window
    /// of that size.
    pub(super) fn answered(&mut self, now: Instant, order: u64, latest: u64, delivered: u64, size: Amount) {
        if order <= self.mark {
            return;
        }
        let (since, before) = self.began;
        self.mark = latest;
        self.began = (now, delivered);
        let took = now.saturating_duration_since(since).as_secs_f64();
        if took > 0.0 {
            self.judge(now, (delivered - before) as f64 / took, size);
        }
    }

    fn judge(&mut self, now: Instant, rate: f64, size: Amount) {
        let stale = now.saturating_duration_since(self.reached) > STALE && rate < self.best * WORSE;
        if rate > self.best * MORE || stale {
            (self.best, self.reached, self.useful) = (rate, now, size);
        }
    }

    /// Calls become larger: at least so much is worth it.
    pub(super) fn make_room(&mut self, start: Amount) {
        self.useful = self.useful.each(start, f64::max);
    }

    /// How large the window may grow; `standing`: answers take longer than the path does.
    pub(super) fn limit(&self, standing: bool, bytes: usize) -> Amount {
        let factor = if standing { TRY_STANDING } else { TRY };
        Amount { calls: self.useful.calls * factor + 1.0, bytes: self.useful.bytes * factor + bytes as f64 }
    }
}
