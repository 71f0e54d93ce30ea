//! Log lines that anybody can cause, or that repeat as long as something lasts: one a second or a minute, with the number of those that
//! were left out.

use std::time::{Duration, Instant};

use crate::locks::Mutex;

/// How often the log mentions one kind of event.
const INTERVAL: Duration = Duration::from_secs(1);

/// How often it mentions what lasts until a person mends it.
const MINUTE: Duration = Duration::from_secs(60);

/// When one kind of event was logged last.
#[derive(Debug)]
pub struct Seldom {
    interval: Duration,
    /// The time, and how many events came since.
    last: Mutex<(Option<Instant>, u64)>,
}

impl Default for Seldom {
    fn default() -> Self {
        Self { interval: INTERVAL, last: Mutex::default() }
    }
}

impl Seldom {
    /// Logs once a minute.
    pub fn each_minute() -> Self {
        Self { interval: MINUTE, ..Self::default() }
    }

    /// Whether to log this event; if so, how many before it were not logged.
    pub fn log(&self, now: Instant) -> Option<u64> {
        let (last, left_out) = &mut *self.last.lock();
        if last.is_some_and(|last| now.saturating_duration_since(last) < self.interval) {
            *left_out += 1;
            return None;
        }
        *last = Some(now);
        Some(std::mem::take(left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_event_a_second_is_logged_and_the_others_are_counted() {
        let (seldom, start) = (Seldom::default(), Instant::now());
        assert_eq!(seldom.log(start), Some(0));
        assert_eq!(seldom.log(start), None);
        assert_eq!(seldom.log(start + INTERVAL / 2), None);
        assert_eq!(seldom.log(start + INTERVAL), Some(2));
        assert_eq!(seldom.log(start + 3 * INTERVAL), Some(0));
        let seldom = Seldom::each_minute();
        assert_eq!([0, 59, 60].map(|second| seldom.log(start + second * INTERVAL)), [Some(0), None, Some(1)]);
    }
}
