//! How what the kernel says of a node becomes its attributes.

use std::ffi::CStr;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use howdah_vfs::{Attributes, DeviceNumber, FileKind, Timestamp};
use rustix::fs::{AtFlags, FileType, Statx, StatxAttributes, fstat, statx};

use super::change_times::ChangeTimes;
use super::identify::{WANTED, identification, time};
use super::known::Identification;
use super::node::Node;
use super::probe;
use super::tree::Tree;
use crate::limits::CHANGE_COUNTS;

/// How a name is looked at: itself, not what it points to or would mount.
const BY_NAME: AtFlags = AtFlags::SYMLINK_NOFOLLOW.union(AtFlags::NO_AUTOMOUNT);

/// Bytes in a block as `st_blocks` counts them.
const BLOCK: u64 = 512;

/// Reads attributes.
pub(super) struct AttributeReader {
    tree: Arc<Tree>,
    times: ChangeTimes,
}

impl AttributeReader {
    /// Finds out what the times of a tree are like.
    pub(super) fn new(tree: &Arc<Tree>) -> Self {
        let fine = probe::has_fine_times(tree).then(|| tree.file_system_of(tree.device));
        let times = ChangeTimes::new(CHANGE_COUNTS, fine, tree.has_own_clock());
        Self { tree: Arc::clone(tree), times }
    }

    /// Makes the time of a change one that clients can go by.
    pub(super) fn times(&self) -> &ChangeTimes {
        &self.times
    }

    /// What the kernel says of an open node: one `fstat`, and no allocation.
    #[allow(clippy::unnecessary_cast)] // the types of the fields differ between architectures
    pub(super) fn of_node(&self, node: &Node) -> rustix::io::Result<Attributes> {
        let stat = fstat(node.descriptor())?;
        let changed = time(stat.st_ctime as i64, stat.st_ctime_nsec as u32);
        Ok(Attributes {
            change: changed.as_change(),
            kind: kind(stat.st_mode),
            mode: stat.st_mode & 0o7777,
            links: u32::try_from(stat.st_nlink).unwrap_or(u32::MAX),
            user: stat.st_uid,
            group: stat.st_gid,
            size: stat.st_size as u64,
            used: stat.st_blocks as u64 * BLOCK,
            device: DeviceNumber {
                major: rustix::fs::major(stat.st_rdev as u64),
                minor: rustix::fs::minor(stat.st_rdev as u64),
            },
            file_system: self.tree.file_system_of(stat.st_dev as u64),
            file: stat.st_ino as u64,
            accessed: time(stat.st_atime as i64, stat.st_atime_nsec as u32),
            modified: time(stat.st_mtime as i64, stat.st_mtime_nsec as u32),
            changed,
            created: node.birth(),
        })
    }

    /// What a name in a directory (or, with no name, an open node) is, without following a link.
    pub(super) fn look(&self, at: BorrowedFd<'_>, name: &[u8]) -> rustix::io::Result<Seen> {
        let flags = if name.is_empty() { AtFlags::EMPTY_PATH } else { BY_NAME };
        Ok(self.seen_in(&statx(at, name, flags, WANTED)?))
    }

    /// As [`Self::look`], for a name that ends in NUL.
    pub(super) fn look_at(&self, at: BorrowedFd<'_>, name: &CStr) -> rustix::io::Result<Seen> {
        Ok(self.seen_in(&statx(at, name, BY_NAME, WANTED)?))
    }

    fn seen_in(&self, found: &Statx) -> Seen {
        let device = rustix::fs::makedev(found.stx_dev_major, found.stx_dev_minor);
        let mode = u32::from(found.stx_mode);
        let (changed, identification) =
            (time(found.stx_ctime.tv_sec, found.stx_ctime.tv_nsec), identification(found));
        let attributes = Attributes {
            change: changed.as_change(),
            kind: kind(mode),
            mode: mode & 0o7777,
            links: found.stx_nlink,
            user: found.stx_uid,
            group: found.stx_gid,
            size: found.stx_size,
            used: found.stx_blocks * BLOCK,
            device: DeviceNumber { major: found.stx_rdev_major, minor: found.stx_rdev_minor },
            file_system: self.tree.file_system_of(device),
            file: found.stx_ino,
            accessed: time(found.stx_atime.tv_sec, found.stx_atime.tv_nsec),
            modified: time(found.stx_mtime.tv_sec, found.stx_mtime.tv_nsec),
            changed,
            created: identification.birth,
        };
        Seen {
            attributes: self.times.seen(&attributes),
            stamp: attributes.changed,
            identification,
            is_mount: found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT),
        }
    }
}

/// A node as `statx` saw it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub(super) attributes: Attributes,
    /// Its time of change as the kernel said it.
    pub(super) stamp: Timestamp,
    pub(super) identification: Identification,
    /// Whether it is the root of a mount.
    pub(super) is_mount: bool,
}

fn kind(mode: u32) -> FileKind {
    match FileType::from_raw_mode(mode) {
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => FileKind::SymbolicLink,
        FileType::BlockDevice => FileKind::BlockDevice,
        FileType::CharacterDevice => FileKind::CharacterDevice,
        FileType::Fifo => FileKind::Fifo,
        FileType::Socket => FileKind::Socket,
        FileType::RegularFile | FileType::Unknown => FileKind::Regular,
    }
}
