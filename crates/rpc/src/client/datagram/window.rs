//! How much may be on the way: a window in calls and one in bytes, grown by answers, cut by timeouts at most once per
//! round, restored when a cut is proven to have been for nothing.

use std::time::Instant;

/// To begin with, and after a rest: two calls.
const START: f64 = 2.0;

/// What counts against the window, or is allowed by it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Amount {
    pub(super) calls: f64,
    pub(super) bytes: f64,
}

impl Amount {
    pub(super) fn each(self, other: Self, with: impl Fn(f64, f64) -> f64) -> Self {
        Self { calls: with(self.calls, other.calls), bytes: with(self.bytes, other.bytes) }
    }
}

/// The window of one server.
#[derive(Debug)]
pub(super) struct Window {
    size: Amount,
    /// Below it the window doubles per round trip, above it grows by one call.
    threshold: Amount,
    ceiling: Amount,
    cut: Option<Cut>,
}

/// The last cut.
#[derive(Debug)]
struct Cut {
    at: Instant,
    size: Amount,
    threshold: Amount,
    /// Calls that timed out and are not proven to have been answered all the same.
    unproven: u32,
}

impl Window {
    /// `call` is the largest call with its reply, in bytes.
    pub(super) fn new(most_calls: usize, most_bytes: usize, call: usize) -> Self {
        let ceiling = Amount { calls: most_calls.max(1) as f64, bytes: most_bytes.max(1) as f64 };
        let start = Amount { calls: START, bytes: START * call as f64 };
        Self { size: start.each(ceiling, f64::min), threshold: ceiling, ceiling, cut: None }
    }

    /// May a call of so many bytes join what is on the way? One always may, if it is alone.
    pub(super) fn admits(&self, flight: Amount, bytes: usize) -> bool {
        let joined = Amount { calls: flight.calls + 1.0, bytes: flight.bytes + bytes as f64 };
        flight.calls < 0.5 || (joined.calls <= self.size.calls && joined.bytes <= self.size.bytes)
    }

    /// A call of so many bytes was answered, sent when `flight` (with it) was on the way. Only a window that was in use then
    /// grows, and not beyond `limit`; in full use if answers stand in a queue already (`standing`): what nobody used yet must
    /// not be more than the queue has room for when somebody does.
    pub(super) fn answered(&mut self, flight: Amount, bytes: usize, limit: Amount, standing: bool) {
        let bytes = bytes as f64;
        let limit = limit.each(self.ceiling, f64::min);
        let Amount { calls, bytes: in_use } = flight;
        self.size.calls = grow(self.size.calls, self.threshold.calls, limit.calls, calls, 1.0, standing);
        self.size.bytes = grow(self.size.bytes, self.threshold.bytes, limit.bytes, in_use, bytes, standing);
    }

    /// A call, sent last at `sent`, timed out; `again`: not for the first time, which says nothing new about how much
    /// the path holds (RFC 5681 3.1).
    pub(super) fn timed_out(&mut self, sent: Instant, now: Instant, again: bool) {
        if let Some(cut) = self.cut.as_mut().filter(|cut| sent <= cut.at) {
            cut.unproven += 1;
            return;
        }
        self.cut = Some(Cut { at: now, size: self.size, threshold: self.threshold, unproven: 1 });
        // With two on the way, the answer of one still shows that the other is lost; a server that is silent is asked with one
        // at a time.
        let least = Amount { calls: if again { 1.0 } else { 2.0 }, bytes: 1.0 };
        self.size = self.size.each(least, |size, least| (size / 2.0).max(least.min(size)));
        if !again {
            self.threshold = self.size;
        }
    }

    /// A call that timed out at that time was answered all the same. When all that made for the last cut were, it is
    /// undone.
    pub(super) fn was_for_nothing(&mut self, timed_out: Instant) {
        let Some(cut) = self.cut.as_mut().filter(|cut| timed_out >= cut.at) else { return };
        cut.unproven = cut.unproven.saturating_sub(1);
        if cut.unproven == 0 {
            self.size = self.size.each(cut.size, f64::max);
            self.threshold = self.threshold.each(cut.threshold, f64::max);
            self.cut = None;
        }
    }

    /// Nothing was sent for a while: what was known of the path is old. `call` as in [`Window::new`].
    pub(super) fn restart(&mut self, call: usize) {
        let start = Amount { calls: START, bytes: START * call as f64 };
        self.threshold = self.threshold.each(self.size, |threshold, size| threshold.max(size * 0.75));
        self.size = self.size.each(start, f64::min);
    }

    /// Calls become larger: two of them must fit. How much that is.
    pub(super) fn make_room(&mut self, call: usize) -> Amount {
        let start = Amount { calls: START, bytes: START * call as f64 }.each(self.ceiling, f64::min);
        self.size = self.size.each(start, f64::max);
        start
    }

    /// Does it still double?
    pub(super) fn is_starting(&self) -> bool {
        self.size.calls < self.threshold.calls && self.size.bytes < self.threshold.bytes
    }

    pub(super) fn size(&self) -> Amount {
        self.size
    }
}

fn grow(size: f64, threshold: f64, limit: f64, flight: f64, step: f64, standing: bool) -> f64 {
    let grown = if size < threshold {
        // Doubling while at least half of it is used keeps up with bursts (RFC 7661 4.1 is stricter).
        let is_used = if standing { flight + step > size } else { flight * 2.0 >= size };
        if is_used { size + step } else { size }
    } else if flight + step > size {
        size + step * step / size
    } else {
        size
    };
    grown.min(limit).max(size)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)] // Some instant is needed to start from.
mod tests {
    use std::time::Duration;

    use super::*;

    const NO_LIMIT: Amount = Amount { calls: f64::MAX, bytes: f64::MAX };

    /// So many calls of 8 KiB are answered, with the window full.
    fn answer(window: &mut Window, calls: u32) {
        (0..calls).for_each(|_| window.answered(window.size(), 8192, NO_LIMIT, false));
    }

    fn grown() -> Window {
        let mut window = Window::new(64, 1 << 20, 8192);
        answer(&mut window, 14);
        window
    }

    #[test]
    fn it_doubles_per_round_and_stops_at_its_ceiling() {
        let mut window = grown();
        assert_eq!(window.size(), Amount { calls: 16.0, bytes: 16.0 * 8192.0 });
        answer(&mut window, 1000);
        assert_eq!(window.size(), Amount { calls: 64.0, bytes: (1 << 20) as f64 });
    }

    #[test]
    fn a_window_that_is_not_used_does_not_grow() {
        let mut window = grown();
        window.answered(Amount { calls: 3.0, bytes: 3.0 * 8192.0 }, 8192, NO_LIMIT, false);
        assert_eq!(window.size().calls, 16.0);
        window.answered(Amount { calls: 9.0, bytes: 9.0 * 8192.0 }, 8192, NO_LIMIT, true);
        assert_eq!(window.size().calls, 16.0);
        window.answered(window.size(), 8192, Amount { calls: 8.0, bytes: 8192.0 }, false);
        assert_eq!(window.size().calls, 16.0, "a limit is no reason to shrink");
    }

    #[test]
    fn it_is_cut_once_per_round_and_restored_when_all_were_answered() {
        let (sent, now) = (Instant::now(), Instant::now() + Duration::from_secs(1));
        let mut window = grown();
        let before = window.size();
        (0..16).for_each(|_| window.timed_out(sent, now, false));
        assert_eq!(window.size().calls, 8.0);
        (0..15).for_each(|_| window.was_for_nothing(now));
        assert_eq!(window.size().calls, 8.0);
        window.was_for_nothing(now);
        assert_eq!(window.size(), before);
        assert!(window.is_starting());
    }

    #[test]
    fn above_the_threshold_it_grows_by_one_call_per_round() {
        let mut window = grown();
        window.timed_out(Instant::now(), Instant::now(), false);
        answer(&mut window, 8);
        assert!((8.9..=9.0).contains(&window.size().calls), "{:?}", window.size());
    }
}
