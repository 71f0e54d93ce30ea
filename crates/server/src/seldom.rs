//! Log lines that anybody can cause: one a second, with the number of those that were left out.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// How often the log tells of one kind of event.
const INTERVAL: Duration = Duration::from_secs(1);

/// When one kind of event was logged last.
#[derive(Debug, Default)]
pub struct Seldom {
    /// The time, and how many events came since.
    last: Mutex<(Option<Instant>, u64)>,
}

impl Seldom {
    /// Whether to log this event; if so, how many before it were not logged.
    pub fn log(&self, now: Instant) -> Option<u64> {
        let (last, left_out) = &mut *self.last.lock();
        if last.is_some_and(|last| now.saturating_duration_since(last) < INTERVAL) {
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
    }
}
