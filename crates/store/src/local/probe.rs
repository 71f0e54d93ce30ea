//! What the storage of a directory can do that no figure of it tells: found out by trying, once. Leaves nothing behind.

use std::os::fd::AsFd;

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::{Errno, Result};

use super::syscall::clone_range;
use super::tree::Tree;
use super::xattrs;

/// Whether files and directories can have extended attributes of users.
pub(super) fn has_xattrs(tree: &Tree) -> bool {
    let found = xattrs::get(tree, tree.root.as_fd(), b"howdah", &mut Vec::new());
    !matches!(found, Err(Errno::OPNOTSUPP | Errno::NOSYS))
}

/// Whether ranges of files can be cloned. Where no file can be made, none can.
pub(super) fn clones(tree: &Tree) -> bool {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let tried = || -> Result<()> {
        let file = openat(&tree.root, ".", flags, Mode::RUSR | Mode::WUSR)?;
        clone_range(file.as_fd(), 0, file.as_fd(), 0, 0)
    };
    tried().is_ok()
}
