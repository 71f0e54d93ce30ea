//! The least round trip of the last minutes: what the path takes when nothing waits.

use std::time::{Duration, Instant};

/// Half of the time after which an old minimum no longer counts: paths change.
const HALF: Duration = Duration::from_secs(150);

/// A minimum that forgets.
#[derive(Debug, Default)]
pub(super) struct Least {
    /// Since when, and the least since then.
    current: Option<(Instant, Duration)>,
    before: Option<Duration>,
}

impl Least {
    pub(super) fn sample(&mut self, now: Instant, took: Duration) {
        match &mut self.current {
            Some((since, least)) if now < *since + HALF => *least = took.min(*least),
            current => {
                self.before = current.map(|(_, least)| least);
                *current = Some((now, took));
            }
        }
    }

    pub(super) fn get(&self) -> Option<Duration> {
        let current = self.current.map(|(_, least)| least);
        current.into_iter().chain(self.before).min()
    }
}
