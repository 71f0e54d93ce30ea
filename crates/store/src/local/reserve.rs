//! Descriptors put by for calls that open what they just made. Out of descriptors such a call could not be answered, and
//! its repetition would find the name taken.

use std::os::fd::{BorrowedFd, OwnedFd};

use howdah_vfs::{FsError, Result};
use parking_lot::Mutex;
use rustix::io::fcntl_dupfd_cloexec;

use super::errno::refusal;

/// As many are kept as calls may need at the same time; more are closed after use.
const KEPT: usize = 16;

/// Those that nobody uses now.
#[derive(Default)]
pub(super) struct Reserve {
    spare: Mutex<Vec<OwnedFd>>,
}

/// Some of them, for one call.
pub(super) struct Spare<'r> {
    reserve: &'r Reserve,
    held: Vec<OwnedFd>,
}

impl Reserve {
    /// Takes so many; makes those of `any` descriptor that are not there. Refused if there cannot be so many: then nothing
    /// may be changed.
    pub(super) fn take(&self, count: usize, any: BorrowedFd<'_>) -> Result<Spare<'_>> {
        let mut spare = Spare { reserve: self, held: Vec::with_capacity(count) };
        for _ in 0..count {
            let next = self.pop().map_or_else(|| fcntl_dupfd_cloexec(any, 0).map_err(refusal), Ok)?;
            spare.held.push(next);
        }
        Ok(spare)
    }

    fn pop(&self) -> Option<OwnedFd> {
        self.spare.lock().pop()
    }
}

impl Spare<'_> {
    /// Does what may open something; out of descriptors, again with one of these less. If another thread was quicker, those
    /// of other calls are tried.
    pub(super) fn with<T>(&mut self, mut open: impl FnMut() -> Result<T>) -> Result<T> {
        loop {
            match open() {
                Err(FsError::Delay) => match self.held.pop().or_else(|| self.reserve.pop()) {
                    Some(place) => drop(place),
                    None => return Err(FsError::Delay),
                },
                outcome => return outcome,
            }
        }
    }
}

impl Drop for Spare<'_> {
    fn drop(&mut self) {
        let mut spare = self.reserve.spare.lock();
        let room = KEPT.saturating_sub(spare.len()).min(self.held.len());
        spare.extend(self.held.drain(..room));
    }
}
