//! What the log of the server says while records of clients cannot be written: that it began, once a minute that it lasts, and that it ended.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// How often it is said that it lasts.
const EVERY: Duration = Duration::from_secs(60);

/// Whether records cannot be written.
#[derive(Debug, Default)]
pub(super) struct LogTrouble {
    /// Refusals since it began. Most calls look at this alone.
    refused: AtomicU64,
    last_said: Mutex<Option<Instant>>,
}

impl LogTrouble {
    /// A call waited for its record.
    pub(super) fn note(&self, waited: &io::Result<()>) {
        match waited {
            Err(error) => {
                let refused = self.refused.fetch_add(1, Ordering::Relaxed) + 1;
                if self.is_due() {
                    tracing::error!(
                        %error,
                        refused,
                        "the record of clients cannot be written: new clients wait, recorded ones continue; make room in the state directory"
                    );
                }
            }
            Ok(()) if self.refused.load(Ordering::Relaxed) != 0 => self.ended(),
            Ok(()) => {}
        }
    }

    fn is_due(&self) -> bool {
        let mut last = self.last_said.lock();
        let is_due = last.is_none_or(|last| last.elapsed() >= EVERY);
        if is_due {
            *last = Some(Instant::now());
        }
        is_due
    }

    #[cold]
    fn ended(&self) {
        let refused = self.refused.swap(0, Ordering::Relaxed);
        if refused != 0 {
            tracing::info!(refused, "the record of clients can be written again");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lasts_is_said_once() {
        let trouble = LogTrouble::default();
        let full = || Err(io::ErrorKind::StorageFull.into());
        trouble.note(&full());
        for _ in 0..1_000 {
            assert!(!trouble.is_due());
            trouble.note(&full());
        }
        assert_eq!(trouble.refused.load(Ordering::Relaxed), 1_001);
        trouble.note(&Ok(()));
        assert_eq!(trouble.refused.load(Ordering::Relaxed), 0);
        assert!(!trouble.is_due(), "those who are recorded go on meanwhile: it may not be over");
    }
}
