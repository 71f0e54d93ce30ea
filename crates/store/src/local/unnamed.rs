//! Files that have their times before they have a name: a server that is killed between the two leaves no file that its maker cannot
//! tell from another's.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use howdah_vfs::{Caller, Name, NewAttributes, Result, SetTime};
use rustix::fs::{AtFlags, Mode, OFlags, Timestamps, futimens, linkat, openat};
use rustix::io::Errno;

use super::LocalFileSystem;
use super::errno::refusal;
use super::identity::Identity;
use super::node::Node;
use super::set_attributes::time;

const UNNAMED: OFlags = OFlags::TMPFILE.union(OFlags::RDWR).union(OFlags::CLOEXEC);

/// Whether a file system takes such files.
#[derive(Debug, Default)]
pub(super) struct Unnamed {
    is_refused: AtomicBool,
}

impl LocalFileSystem {
    /// Makes a file that gets its name last. `None`: it needs no such care, or the file system has no files without a name.
    ///
    /// # Errors
    /// The name is taken, or the caller may not make it.
    pub(super) fn make_unnamed(
        &self,
        caller: &Caller,
        directory: &Node,
        (name, mode): (Name<'_>, Mode),
        new: &NewAttributes,
    ) -> Result<Option<rustix::io::Result<OwnedFd>>> {
        let (SetTime::To(_), SetTime::To(_)) = (new.accessed, new.modified) else { return Ok(None) };
        if self.unnamed.is_refused.load(Ordering::Relaxed) {
            return Ok(None);
        }
        self.identity.assume(caller)?;
        let times = Timestamps { last_access: time(new.accessed), last_modification: time(new.modified) };
        let file = openat(directory.descriptor(), c".", UNNAMED, mode)
            .and_then(|file| futimens(&file, &times).map(|()| file));
        let Ok(file) = file else { return Ok(None) };
        // To open it in this directory took the right to make names there. A file without a name is linked by the superuser.
        let link = || linkat(&file, c"", directory.descriptor(), name.as_bytes(), AtFlags::EMPTY_PATH);
        match Identity::as_root(link)? {
            Ok(()) => Ok(Some(Ok(file))),
            Err(Errno::EXIST) => Ok(Some(Err(Errno::EXIST))),
            Err(errno @ (Errno::NOSPC | Errno::DQUOT | Errno::NAMETOOLONG)) => Err(refusal(errno)),
            Err(_) => {
                self.unnamed.is_refused.store(true, Ordering::Relaxed);
                Ok(None)
            }
        }
    }
}
