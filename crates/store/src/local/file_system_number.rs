//! The number of a file system.

use std::os::fd::AsFd;

use rustix::fs::fstatvfs;

/// The number that a file system calls itself by: unlike the device's, most file systems keep it with them.
pub(super) fn file_system_number(node: impl AsFd) -> Option<u64> {
    fstatvfs(node.as_fd()).ok().map(|found| found.f_fsid).filter(|&number| number != 0)
}
