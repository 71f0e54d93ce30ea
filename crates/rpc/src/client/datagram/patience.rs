//! How long an answer is waited for at least before its call counts as lost: what slow answers taught.

use std::time::{Duration, Instant};

/// Nothing is overdue sooner than the shortest timer runs out: a disk seeks, a loaded host sleeps.
const LEAST: Duration = Duration::from_millis(200);
/// For how long patience is kept after the last answer that needed it.
const KEPT_FOR: Duration = Duration::from_secs(60);

/// Answers that were slow, but came.
#[derive(Debug, Default)]
pub(super) struct Patience {
    /// How long to wait at least, and until when.
    learned: Option<(Duration, Instant)>,
    /// Answers until the next look.
    pub(super) until_look: u32,
}

impl Patience {
    /// How long to wait at least.
    pub(super) fn get(&self, now: Instant) -> Duration {
        self.learned.filter(|(_, until)| *until > now).map_or(LEAST, |(patience, _)| patience)
    }

    /// A call counted as lost, and its answer came after so long.
    pub(super) fn was_too_short(&mut self, now: Instant, took: Duration) {
        self.learned = Some(((took * 2).max(self.get(now)), now + KEPT_FOR));
    }

    /// An answer came after so long.
    pub(super) fn sample(&mut self, now: Instant, took: Duration) {
        if let Some((patience, until)) = &mut self.learned
            && took > LEAST
        {
            *patience = (*patience).max(took * 2);
            *until = now + KEPT_FOR;
        }
    }
}
