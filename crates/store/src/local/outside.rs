//! Directories that others moved out of the export: no handle may lead there. Looked at when a handle is opened and every few
//! seconds while the directory is open, on no call that finds it open.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{AtFlags, Mode, OFlags, Stat, StatxFlags, fstat, openat, statx};
use rustix::io::{Errno, Result};

use super::cache::NodeCache;
use super::handles::{Form, Mounts};
use super::node::Node;
use super::tree::{LOOK, Tree};

/// The deepest directory whose way up to the root is followed: each step is a name, and paths that programs can use
/// have at most half of PATH_MAX of them.
const DEEPEST: usize = 2048;

/// How a directory is asked for the one above it: from memory.
const FROM_MEMORY: AtFlags = AtFlags::NO_AUTOMOUNT.union(AtFlags::STATX_DONT_SYNC);

/// Where an open node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// A directory of the export, or one whose place cannot be found.
    Inside,
    /// A directory elsewhere.
    Outside,
    /// No directory. It may have names inside and outside of the export, so its place says nothing.
    NoDirectory,
}

impl Tree {
    /// Where an open node of the root's file system is. `mounts`: those inside of an export that crosses them.
    pub(super) fn position(&self, node: BorrowedFd<'_>, mounts: Option<&Mounts>) -> Position {
        match statx(node, "..", FROM_MEMORY, StatxFlags::empty()) {
            Err(Errno::NOTDIR) => Position::NoDirectory,
            // The kernel lets no `..` lead from a directory that has left its mount.
            Err(Errno::NOENT) => Position::Outside,
            _ if self.is_own_mount() || self.is_named_below_root(node) => Position::Inside,
            _ => match self.is_inside(node, mounts) {
                Ok(false) | Err(Errno::NOENT | Errno::ACCESS) => Position::Outside,
                // Out of descriptors, or the like: that says nothing.
                Ok(true) | Err(_) => Position::Inside,
            },
        }
    }

    /// Goes up until the root is met, or what is mounted inside from elsewhere on the same file system (a bind mount): the kernel
    /// opens handles in the root's mount, where that lies elsewhere. A directory whose way up ends elsewhere has left the export.
    pub(super) fn is_inside(&self, directory: BorrowedFd<'_>, mounts: Option<&Mounts>) -> Result<bool> {
        let root = fstat(self.root())?;
        if self.is_below(directory, |step| is_same(step, &root))? {
            return Ok(true);
        }
        let bound = mounts.map(Mounts::bound).filter(|bound| !bound.is_empty());
        let is_bound =
            |step: &Stat, bound: &[u64]| step.st_dev == root.st_dev && bound.contains(&step.st_ino);
        bound.map_or(Ok(false), |bound| self.is_below(directory, |step| is_bound(step, &bound)))
    }

    fn is_below(&self, directory: BorrowedFd<'_>, is_top: impl Fn(&Stat) -> bool) -> Result<bool> {
        let mut step = fstat(directory)?;
        let mut above: Option<OwnedFd> = None;
        for _ in 0..DEEPEST {
            if is_top(&step) {
                return Ok(true);
            }
            let from = above.as_ref().map_or(directory, |above| above.as_fd());
            let next = openat(from, "..", LOOK | OFlags::DIRECTORY, Mode::empty())?;
            let seen = fstat(&next)?;
            if is_same(&seen, &step) {
                break;
            }
            (step, above) = (seen, Some(next));
        }
        Ok(false)
    }

    /// Whether the kernel names a node by a path below the root's: cheaper than to go up, and as good where it holds.
    fn is_named_below_root(&self, node: BorrowedFd<'_>) -> bool {
        let (Ok(root), Ok(path)) = (self.path_of(self.root()), self.path_of(node)) else {
            return false;
        };
        let (root, path) = (root.to_bytes(), path.to_bytes());
        let rest = path.strip_prefix(if root == b"/" { &[][..] } else { root });
        rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'/')))
    }
}

fn is_same(one: &Stat, other: &Stat) -> bool {
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
}

/// Lets go of open directories that have left the export, in this turn's part of the cache.
pub(super) fn drop_moved_out(tree: &Tree, nodes: &NodeCache, mounts: Option<&Mounts>, turn: u32) {
    let open = nodes.directories(turn);
    // What is mounted inside has paths of its own.
    let is_on_root = |node: &&Arc<Node>| matches!(Form::parse(&node.handle), Ok((None, _)));
    for node in open.iter().filter(is_on_root) {
        match tree.position(node.descriptor(), mounts) {
            Position::Inside => {}
            Position::Outside => nodes.forget(&node.handle),
            Position::NoDirectory => node.on_no_directory(),
        }
    }
}
