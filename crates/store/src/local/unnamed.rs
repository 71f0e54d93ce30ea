//! Files that have their times before they have a name: a server that is killed between the two leaves no file that its maker
//! cannot distinguish from another's.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use howdah_vfs::{Name, Result};
use rustix::fs::{AtFlags, Mode, OFlags, Timestamps, futimens, linkat, openat};
use rustix::io::Errno;

use super::errno::refusal;
use super::identity::Identity;

const UNNAMED: OFlags = OFlags::TMPFILE.union(OFlags::RDWR).union(OFlags::CLOEXEC);

/// Makes such files, where the file system has them.
#[derive(Debug, Default)]
pub(super) struct Unnamed {
    has_worked: AtomicBool,
    is_refused: AtomicBool,
}

impl Unnamed {
    /// Makes a file with these times, with the identity of this thread. The file gets its name last. `None`: the file system cannot do that.
    ///
    /// # Errors
    /// There is no room for the name, or it is too long.
    pub(super) fn make(
        &self,
        directory: BorrowedFd<'_>,
        (name, mode): (Name<'_>, Mode),
        times: &Timestamps,
    ) -> Result<Option<rustix::io::Result<OwnedFd>>> {
        if self.is_refused.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let file = match openat(directory, c".", UNNAMED, mode) {
            Ok(file) => file,
            Err(Errno::OPNOTSUPP | Errno::ISDIR) => return Ok(self.on_refused()),
            Err(_) => return Ok(None),
        };
        if futimens(&file, times).is_err() {
            return Ok(None);
        }
        // To open it in this directory took the right to make names there. A file without a name is linked by the superuser.
        let link = || linkat(&file, c"", directory, name.as_bytes(), AtFlags::EMPTY_PATH);
        match Identity::as_root(link)? {
            Ok(()) => {
                self.has_worked.store(true, Ordering::Relaxed);
                Ok(Some(Ok(file)))
            }
            Err(Errno::EXIST) => Ok(Some(Err(Errno::EXIST))),
            Err(errno @ (Errno::NOSPC | Errno::DQUOT | Errno::NAMETOOLONG)) => Err(refusal(errno)),
            Err(_) => Ok(self.on_refused()),
        }
    }

    /// It is not tried again, unless it has worked: then only this directory is at fault, such as one that was removed.
    fn on_refused<T>(&self) -> Option<T> {
        if !self.has_worked.load(Ordering::Relaxed) {
            self.is_refused.store(true, Ordering::Relaxed);
        }
        None
    }
}
