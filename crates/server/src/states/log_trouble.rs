//! What the server says while records of clients cannot be written: the log that it began, once a minute that it lasts, and
//! that it ended, and why.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::locks::Mutex;

use crate::seldom::Seldom;

/// Whether records cannot be written.
#[derive(Debug)]
pub(super) struct LogTrouble {
    /// Calls that waited for a record since it began.
    refused: AtomicU64,
    /// Why they cannot be.
    why: Mutex<Option<String>>,
    said: Seldom,
}

impl LogTrouble {
    /// As a server starts. What is wrong then it says itself.
    pub(super) fn at_start(written: &io::Result<()>) -> Self {
        let why = written.as_ref().err().map(plain);
        let trouble = Self { refused: AtomicU64::new(0), why: Mutex::new(why), said: Seldom::each_minute() };
        if written.is_err() {
            trouble.said.log(Instant::now());
        }
        trouble
    }

    /// A call did not get its record.
    #[cold]
    pub(super) fn refuse(&self, error: &io::Error) {
        self.refused.fetch_add(1, Ordering::Relaxed);
        self.say(error);
    }

    /// Whether records can be written was looked at.
    pub(super) fn look(&self, written: &io::Result<()>) {
        match written {
            Err(error) => {
                *self.why.lock() = Some(plain(error));
                self.say(error);
            }
            Ok(()) => {
                if self.why.lock().take().is_some() {
                    let refused = self.refused.swap(0, Ordering::Relaxed);
                    tracing::info!(refused, "the record of clients can be written again");
                }
            }
        }
    }

    /// Why records cannot be written, if they cannot.
    pub(super) fn why(&self) -> Option<String> {
        self.why.lock().clone()
    }

    fn say(&self, error: &io::Error) {
        if self.said.log(Instant::now()).is_some() {
            let refused = self.refused.load(Ordering::Relaxed);
            tracing::error!(
                %error,
                refused,
                "the record of clients cannot be written: new clients wait, recorded ones continue; make room in the state directory"
            );
        }
    }
}

/// The words of an error, without its number.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error").map_or(&*text, |(words, _)| words).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_lasts_until_records_are_written_again() {
        let full = || Err(io::ErrorKind::StorageFull.into());
        let trouble = LogTrouble::at_start(&Ok(()));
        trouble.look(&full());
        for _ in 0..1_000 {
            trouble.refuse(&io::ErrorKind::StorageFull.into());
            assert_eq!(trouble.said.log(Instant::now()), None, "said once");
        }
        assert!(trouble.why().is_some_and(|why| why.contains("no storage space")), "{:?}", trouble.why());
        trouble.look(&Err(io::Error::from_raw_os_error(30)));
        assert_eq!(trouble.why().as_deref(), Some("Read-only file system"));
        trouble.look(&Ok(()));
        assert_eq!((trouble.why(), trouble.refused.load(Ordering::Relaxed)), (None, 0));
        let trouble = LogTrouble::at_start(&full());
        assert!(trouble.why().is_some() && trouble.said.log(Instant::now()).is_none());
    }
}
