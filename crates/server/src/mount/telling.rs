//! How often something is worth a line in the log: an outsider who can cause lines must not fill a disk with them.

use std::time::{Duration, Instant};

use crate::locks::Mutex;

/// A person who looks for a client's trouble sees it at this pace, and a log grows by at most some megabytes a day.
const PAUSE: Duration = Duration::from_secs(1);

/// When a line was last worth it.
#[derive(Debug, Default)]
pub struct Telling {
    last: Mutex<Option<Instant>>,
}

impl Telling {
    /// Whether a line is worth it now.
    pub fn is_due(&self, now: Instant) -> bool {
        let mut last = self.last.lock();
        let due = last.is_none_or(|last| now.saturating_duration_since(last) >= PAUSE);
        if due {
            *last = Some(now);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_pause() {
        let (telling, start) = (Telling::default(), Instant::now());
        assert!(telling.is_due(start));
        assert!(!telling.is_due(start + PAUSE / 2));
        assert!(telling.is_due(start + PAUSE));
        assert!(!telling.is_due(start + PAUSE));
    }
}
