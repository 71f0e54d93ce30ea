//! GETATTR, and how what the kernel says of a node becomes its attributes.

use std::ffi::CStr;
use std::os::fd::BorrowedFd;

use howdah_vfs::{Attributes, Before, Change, DeviceNumber, FileKind, FsError, Handle, Result, Timestamp};
use rustix::fs::{AtFlags, FileType, Stat, Statx, StatxAttributes, fstat, statx};

use super::LocalFileSystem;
use super::change_times::Start;
use super::errno::refusal;
use super::identify::{WANTED, identification, time};
use super::known::Identification;
use super::node::Node;

/// How a name is looked at: itself, not what it points to or would mount.
const BY_NAME: AtFlags = AtFlags::SYMLINK_NOFOLLOW.union(AtFlags::NO_AUTOMOUNT);

/// Bytes in a block as `st_blocks` counts them.
const BLOCK: u64 = 512;

impl LocalFileSystem {
    /// GETATTR: one `fstat` once the node is open, and no allocation.
    pub(super) fn get_attributes(&self, handle: &Handle) -> Result<Attributes> {
        let node = self.node(handle)?;
        self.stat(&node)
    }

    /// The attributes of an open node as clients see them; refused once its last name is gone.
    pub(super) fn stat(&self, node: &Node) -> Result<Attributes> {
        self.look_at_node(node).map(|found| self.times.seen(&found))
    }

    /// The same right after a call of ours made or linked it.
    pub(super) fn stat_changed(&self, node: &Node) -> Result<Attributes> {
        self.look_at_node(node).map(|found| self.times.changed(None, &found, true))
    }

    /// What the kernel says of an open node.
    fn look_at_node(&self, node: &Node) -> Result<Attributes> {
        let stat = fstat(node.descriptor()).map_err(refusal)?;
        if stat.st_nlink == 0 && !self.held.has(&node.handle) {
            self.forget(&node.handle);
            return Err(FsError::Stale);
        }
        Ok(Attributes { created: node.created.get().copied(), ..self.attributes_in(&stat) })
    }

    /// As [`Self::stat`], for a node that must be a directory.
    pub(super) fn stat_directory(&self, node: &Node) -> Result<Attributes> {
        let attributes = self.stat(node)?;
        match attributes.kind {
            FileKind::Directory => Ok(attributes),
            _ => Err(FsError::NotDirectory),
        }
    }

    #[allow(clippy::unnecessary_cast)] // the types of the fields differ between architectures
    fn attributes_in(&self, stat: &Stat) -> Attributes {
        let changed = time(stat.st_ctime as i64, stat.st_ctime_nsec as u32);
        Attributes {
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
            created: None,
        }
    }

    /// Runs a call that changes a node while no other call of ours changes it, and returns the node's attributes before and
    /// after it, whether or not it is refused. What takes long, such as making the change durable, comes after it.
    pub(super) fn changing<T>(
        &self,
        node: &Node,
        change: &mut Change,
        call: impl FnOnce(&Attributes) -> Result<T>,
    ) -> Result<T> {
        let _held = self.changes.hold(node);
        self.changing_held(node, change, call)
    }

    /// The same for a WRITE, beside which others change the file, too: only the attributes after it are given.
    pub(super) fn changing_data<T>(
        &self,
        node: &Node,
        change: &mut Change,
        call: impl FnOnce(&Attributes) -> Result<T>,
    ) -> Result<T> {
        let found = self.look_at_node(node)?;
        let start = self.times.start(&found);
        let outcome = self.require_writable().and_then(|()| call(&self.times.seen(&found)));
        change.after = self.stat_after(node, start, &outcome);
        outcome
    }

    /// The attributes after a call of ours.
    fn stat_after<T>(&self, node: &Node, start: Start, outcome: &Result<T>) -> Option<Attributes> {
        let found = self.look_at_node(node).ok()?;
        Some(self.times.changed(Some(start), &found, outcome.is_ok()))
    }

    /// The same for who holds the changes of the node.
    fn changing_held<T>(
        &self,
        node: &Node,
        change: &mut Change,
        call: impl FnOnce(&Attributes) -> Result<T>,
    ) -> Result<T> {
        let found = self.look_at_node(node)?;
        let (before, start) = (self.times.seen(&found), self.times.start(&found));
        // A WRITE holds no lock, and a file that it changes in between must not pass for unchanged.
        change.before = (before.kind != FileKind::Regular).then(|| Before::from(&before));
        let outcome = self.require_writable().and_then(|()| call(&before));
        change.after = self.stat_after(node, start, &outcome);
        outcome
    }

    /// As [`Self::changing`], for a node that must be a directory.
    pub(super) fn changing_directory<T>(
        &self,
        node: &Node,
        change: &mut Change,
        call: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        self.prepare_to_settle(node)?;
        let _held = self.changes.hold(node);
        self.changing_held(node, change, |before| self.in_directory(node, before, call))
    }

    /// The same for two directories, which may be one.
    pub(super) fn changing_directories<T>(
        &self,
        (one, other): (&Node, &Node),
        (first, second): (&mut Change, &mut Change),
        call: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        self.prepare_to_settle(one)?;
        self.prepare_to_settle(other)?;
        let _held = self.changes.hold_two(one, other);
        if one.handle == other.handle {
            let outcome = self.changing_held(one, first, |before| self.in_directory(one, before, call));
            *second = *first;
            return outcome;
        }
        self.changing_held(one, first, |before| {
            self.in_directory(one, before, || {
                self.changing_held(other, second, |before| self.in_directory(other, before, call))
            })
        })
    }

    fn require_writable(&self) -> Result<()> {
        if self.tree.is_read_only() { Err(FsError::ReadOnly) } else { Ok(()) }
    }

    fn in_directory<T>(
        &self,
        node: &Node,
        before: &Attributes,
        call: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        if before.kind != FileKind::Directory {
            return Err(FsError::NotDirectory);
        }
        let outcome = call();
        self.streams.on_change(&node.handle);
        outcome
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
