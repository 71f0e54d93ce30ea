//! What the storage of a directory can do that no figure of it shows: found out by trying, once. Leaves nothing behind.

use std::os::fd::AsFd;

use rustix::fs::{Mode, OFlags, fchmod, fstat, openat};
use rustix::io::Result;

use super::syscall::clone_range;
use super::tree::Tree;

/// How a file without a name is made.
const TEMPORARY: OFlags = OFlags::TMPFILE.union(OFlags::RDWR).union(OFlags::CLOEXEC);

/// How often a file is changed to see whether its time of change always moves: many times within a tick of any clock.
const CHANGES: usize = 32;

/// Whether each change that a client could distinguish gets a time of its own (multigrain timestamps of Linux 6.13). Not where
/// no file can be made to try it.
pub(super) fn has_fine_times(tree: &Tree) -> bool {
    // Slow file systems would pass by being slow.
    if !tree.is_usual() {
        return false;
    }
    let tried = || -> Result<bool> {
        let file = openat(tree.root(), ".", TEMPORARY, Mode::RUSR | Mode::WUSR)?;
        let mut last = None;
        for change in 0..CHANGES {
            fchmod(&file, if change % 2 == 0 { Mode::RUSR } else { Mode::RUSR | Mode::WUSR })?;
            let stat = fstat(&file)?;
            if last.replace((stat.st_ctime, stat.st_ctime_nsec)) == Some((stat.st_ctime, stat.st_ctime_nsec))
            {
                return Ok(false);
            }
        }
        Ok(true)
    };
    tried().unwrap_or(false)
}

/// Whether ranges of files can be cloned. Where no file can be made, none can.
pub(super) fn clones(tree: &Tree) -> bool {
    let tried = || -> Result<()> {
        let file = openat(tree.root(), ".", TEMPORARY, Mode::RUSR | Mode::WUSR)?;
        clone_range(file.as_fd(), 0, file.as_fd(), 0, 0)
    };
    tried().is_ok()
}
