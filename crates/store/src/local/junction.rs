//! Directories at which another file system begins: what is mounted inside the export, and subvolumes.

use std::os::fd::BorrowedFd;

use howdah_vfs::Handle;
use rustix::fs::{AtFlags, Statx, StatxFlags, statx};

use super::open_nodes::OpenNodes;
use super::tree::Tree;

/// From memory, and mounting nothing.
const QUIETLY: AtFlags = AtFlags::NO_AUTOMOUNT.union(AtFlags::STATX_DONT_SYNC);

/// Whether a directory is the root of another file system than the directory above it is on. One look where mounts are crossed,
/// and none where the export is of one file system and the directory is on it.
pub(super) fn is_root_of_another(nodes: &OpenNodes, tree: &Tree, directory: &Handle) -> bool {
    let Ok(node) = nodes.node(directory) else { return false };
    if node.handle == nodes.root().handle {
        return false;
    }
    let device = |found: &Statx| rustix::fs::makedev(found.stx_dev_major, found.stx_dev_minor);
    let Some(own) = node.device() else { return false };
    if own == tree.device && !tree.crosses_mounts() {
        return false;
    }
    above(node.descriptor()).is_some_and(|above| device(&above) != own)
}

fn above(directory: BorrowedFd<'_>) -> Option<Statx> {
    statx(directory, "..", QUIETLY, StatxFlags::empty()).ok()
}
