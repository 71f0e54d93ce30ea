//! The exported tree: its root, what kind of file system it lies on, and the ways into it that cannot lead out.

use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, ResolveFlags, StatVfsMountFlags, chmodat, fstat, fstatfs, fstatvfs, open,
    openat, openat2, readlinkat,
};
use rustix::io::{Errno, Result};
use rustix::mount::{OpenTreeFlags, open_tree};
use rustix::path::DecInt;

use super::handles::Layout;
use super::syscall;

/// How a node is opened to be looked at.
pub(super) const LOOK: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// How a directory is opened to be listed or made durable.
const LIST: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// What file systems call themselves (`statfs.f_type`, linux/magic.h).
const EXT: u64 = 0xef53;
const XFS: u64 = 0x5846_5342;
const BTRFS: u64 = 0x9123_683e;
const TMPFS: u64 = 0x0102_1994;
const RAMFS: u64 = 0x8584_58f6;
const FAT: u64 = 0x4d44;
const EXFAT: u64 = 0x2011_bab0;
const PROC: u64 = 0x9fa0;
const FUSE: u64 = 0x6573_5546;

/// Where the kernel shows what this process has open.
const DESCRIPTORS: &str = "/proc/self/fd";

/// The exported tree.
#[derive(Debug)]
pub(super) struct Tree {
    /// The root: a mount of its own where that is allowed, else the plain directory.
    root: OwnedFd,
    /// The root opened for reading, which `open_by_handle_at` wants; `None` if that is not allowed.
    mount: Option<OwnedFd>,
    /// `/proc/self/fd`, to open again what is open. All trees have it in common.
    descriptors: Arc<OwnedFd>,
    /// The device that the root lies on, and the number it goes by: one that survives a restart of the machine.
    pub(super) device: u64,
    number: u64,
    /// The file number of the root.
    root_file: u64,
    is_own_mount: bool,
    crosses_mounts: bool,
    kind: u64,
    /// The directory in the mount that everybody sees, where the root is a mount of its own: while it is open, that mount is busy
    /// and cannot be undone, so that nobody pulls a disk that is written to.
    seen: Option<OwnedFd>,
    /// Whether that mount was made read-only.
    is_read_only: AtomicBool,
}

impl Tree {
    /// Opens the root.
    pub(super) fn open(directory: &std::path::Path, crosses_mounts: bool) -> Result<Self> {
        let plain = open(directory, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let clone =
            OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_EMPTY_PATH;
        // What is mounted below is not in the clone, so a mount point shows the directory underneath, as the
        // kernel's own server shows it. Needs CAP_SYS_ADMIN.
        let own = if crosses_mounts { None } else { open_tree(&plain, "", clone).ok() };
        let is_own_mount = own.is_some();
        let (root, seen) = match own {
            Some(own) => (own, Some(plain)),
            None => (plain, None),
        };
        let (stat, file_system) = (fstat(&root)?, fstatfs(&root)?);
        #[allow(clippy::unnecessary_cast)] // the types of the fields differ between architectures
        let (device, root_file, kind) = (stat.st_dev as u64, stat.st_ino as u64, file_system.f_type as u64);
        let number = super::file_system_number::file_system_number(&root).unwrap_or(device);
        let mount = openat(&root, ".", LIST, Mode::empty()).ok();
        let descriptors = open_descriptors()?;
        let is_read_only = AtomicBool::new(false);
        let tree = Self {
            root,
            mount,
            descriptors,
            device,
            number,
            root_file,
            is_own_mount,
            crosses_mounts,
            kind,
            seen,
            is_read_only,
        };
        tree.look_at_mount();
        Ok(tree)
    }

    pub(super) fn root(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }

    /// The root opened for reading, if that is allowed.
    pub(super) fn mount(&self) -> Option<BorrowedFd<'_>> {
        self.mount.as_ref().map(AsFd::as_fd)
    }

    /// Whether the root is a mount of its own, in which nothing is mounted: then no name leads out of it.
    pub(super) fn is_own_mount(&self) -> bool {
        self.is_own_mount
    }

    /// Whether what is mounted below is shown.
    pub(super) fn crosses_mounts(&self) -> bool {
        self.crosses_mounts
    }

    /// Looks whether the mount that everybody sees is read-only now: ours does not follow when that is changed.
    pub(super) fn look_at_mount(&self) {
        if let Some(found) = self.seen.as_ref().and_then(|seen| fstatvfs(seen).ok()) {
            self.is_read_only.store(found.f_flag.contains(StatVfsMountFlags::RDONLY), Ordering::Relaxed);
        }
    }

    /// Whether nothing may be changed though the kernel would let us.
    pub(super) fn is_read_only(&self) -> bool {
        self.is_read_only.load(Ordering::Relaxed)
    }

    /// Opens a name in a directory: neither through a link nor, unless mounts are crossed, into another mount.
    pub(super) fn open_name(&self, directory: BorrowedFd<'_>, name: &[u8], flags: OFlags) -> Result<OwnedFd> {
        if self.is_own_mount || self.crosses_mounts {
            return openat(directory, name, flags | OFlags::NOFOLLOW, Mode::empty());
        }
        self.open_beneath(directory, name, flags | OFlags::NOFOLLOW)
    }

    /// Opens a path of several names beneath a directory.
    pub(super) fn open_beneath(
        &self,
        directory: BorrowedFd<'_>,
        path: &[u8],
        flags: OFlags,
    ) -> Result<OwnedFd> {
        let mut resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        if !self.crosses_mounts {
            resolve |= ResolveFlags::NO_XDEV;
        }
        loop {
            // EAGAIN: something was renamed while the kernel made sure that the path does not lead out.
            match openat2(directory, path, flags, Mode::empty(), resolve) {
                Err(Errno::AGAIN) => {}
                outcome => return outcome,
            }
        }
    }

    /// Opens once more what is open already, for something else.
    pub(super) fn reopen(&self, node: BorrowedFd<'_>, flags: OFlags) -> Result<OwnedFd> {
        openat(&self.descriptors, DecInt::from_fd(node), flags | OFlags::CLOEXEC, Mode::empty())
    }

    /// Opens a directory that is open already, to list it.
    pub(super) fn open_listing(&self, directory: BorrowedFd<'_>) -> Result<OwnedFd> {
        self.reopen(directory, LIST)
    }

    /// The path by which the kernel names what is open.
    pub(super) fn path_of(&self, node: BorrowedFd<'_>) -> Result<CString> {
        readlinkat(&self.descriptors, DecInt::from_fd(node), Vec::new())
    }

    /// Gives an open node one more name.
    pub(super) fn link(&self, node: BorrowedFd<'_>, directory: BorrowedFd<'_>, name: &[u8]) -> Result<()> {
        rustix::fs::linkat(&self.descriptors, DecInt::from_fd(node), directory, name, AtFlags::SYMLINK_FOLLOW)
    }

    /// The path under which an open node can be named to calls that take no descriptor of its kind.
    pub(super) fn alias(&self, node: BorrowedFd<'_>) -> (BorrowedFd<'_>, DecInt) {
        (self.descriptors.as_fd(), DecInt::new(node.as_raw_fd()))
    }

    /// The same as a whole path, for calls that take no directory.
    pub(super) fn descriptor_path(&self, node: BorrowedFd<'_>) -> String {
        format!("{DESCRIPTORS}/{}", node.as_raw_fd())
    }

    /// Sets the mode of an open node, whose mode is held.
    pub(super) fn change_mode(&self, node: BorrowedFd<'_>, mode: u32) -> Result<()> {
        match syscall::change_mode(node, mode) {
            // Linux before 6.6.
            Err(Errno::NOSYS) => {
                let (directory, name) = self.alias(node);
                chmodat(directory, name, Mode::from_raw_mode(mode), AtFlags::empty())
            }
            outcome => outcome,
        }
    }

    /// The number that stands for a device in attributes.
    pub(super) fn file_system_of(&self, device: u64) -> u64 {
        if device == self.device { self.number } else { self.number ^ device.rotate_left(32) }
    }

    /// Whether anything here survives the machine at all. Tests of what is made durable run anywhere.
    pub(super) fn is_durable(&self) -> bool {
        cfg!(test) || !matches!(self.kind, TMPFS | RAMFS)
    }

    /// Whether it is one of the usual file systems of Linux, on storage of this host: times of birth are its clock, and set by nobody.
    pub(super) fn is_usual(&self) -> bool {
        matches!(self.kind, EXT | XFS | BTRFS | TMPFS)
    }

    /// Whether times of change are this machine's clock.
    pub(super) fn has_own_clock(&self) -> bool {
        self.is_usual() || matches!(self.kind, RAMFS | FAT | EXFAT)
    }

    /// Whether a process serves this file system (FUSE), and holds data that no kernel knows of.
    pub(super) fn is_fuse(&self) -> bool {
        self.kind == FUSE
    }

    /// Where kernel handles of this file system hold the file number. `kind`, `bytes`: the root's.
    pub(super) fn layout(&self, kind: i32, bytes: &[u8]) -> Layout {
        let layout = match self.kind {
            EXT | XFS | BTRFS => Layout::First,
            TMPFS => Layout::Second,
            FUSE => Layout::HighWordFirst,
            _ => Layout::Unknown,
        };
        layout.or_by_example(self.root_file, kind, bytes)
    }

    /// The kind of file system (`statfs.f_type`).
    pub(super) fn kind(&self) -> u64 {
        self.kind
    }
}

/// `/proc/self/fd`, which is opened once for all trees.
fn open_descriptors() -> Result<Arc<OwnedFd>> {
    static OPEN: Mutex<Weak<OwnedFd>> = Mutex::new(Weak::new());
    let mut open = OPEN.lock();
    if let Some(descriptors) = open.upgrade() {
        return Ok(descriptors);
    }
    let descriptors = Arc::new(open_proc()?);
    *open = Arc::downgrade(&descriptors);
    Ok(descriptors)
}

/// Opens it, making sure that it is what it seems.
fn open_proc() -> Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let descriptors = openat(CWD, DESCRIPTORS, flags, Mode::empty())?;
    #[allow(clippy::unnecessary_cast)]
    let kind = fstatfs(&descriptors)?.f_type as u64;
    if kind == PROC { Ok(descriptors) } else { Err(Errno::NOENT) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exports_need_few_descriptors_each() {
        let home = tempfile::tempdir().expect("a directory");
        let open = || Tree::open(home.path(), false).expect("opens");
        let (first, second) = (open(), open());
        assert!(Arc::ptr_eq(&first.descriptors, &second.descriptors));
    }
}
