//! "Not now" (NFS3ERR_JUKEBOX): the server is fetching a file from slow storage, or recalls it from another client. A
//! client waits and asks again, as kernels do.

use std::time::{Duration, Instant};

use howdah_vfs::{FsError, Result};

/// The first wait: short, since servers say "not now" for moments too.
const FIRST_WAIT: Duration = Duration::from_millis(50);
/// The longest wait: what the Linux client waits each time.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The waits of one call.
pub(crate) struct Jukebox {
    next: Duration,
    /// When the caller gets the refusal instead of waiting on; `None`: never.
    deadline: Option<Instant>,
}

impl Jukebox {
    /// Waits at most `patience` in all; `None`: for ever.
    pub(crate) fn new(patience: Option<Duration>) -> Self {
        Self { next: FIRST_WAIT, deadline: patience.map(|patience| Instant::now() + patience) }
    }

    /// Waits before the next try; refuses with [`FsError::Delay`] when that would be too long.
    pub(crate) fn wait(&mut self) -> Result<()> {
        if self.deadline.is_some_and(|deadline| Instant::now() + self.next > deadline) {
            return Err(FsError::Delay);
        }
        std::thread::sleep(self.next);
        self.next = (self.next * 2).min(LONGEST_WAIT);
        Ok(())
    }
}
