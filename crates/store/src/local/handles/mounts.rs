//! What is mounted inside the export, for exports that cross mounts: each file system beside the root's has a mark,
//! which stands in the handles of its nodes, and a way in, which opens them.
//!
//! The mark is made from the number that the file system calls itself by, so it is the same after a restart. Ways in
//! are let go when they were not used for a while, so that what nobody uses can be unmounted.

use std::collections::HashMap;
use std::hash::Hasher;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use howdah_vfs::{FsError, Result};
use parking_lot::Mutex;
use rustix::fs::{FileType, OFlags, fstat};
use siphasher::sip::SipHasher13;

use super::super::errno::refusal;
use super::super::statistics::file_system_number;
use super::super::tree::Tree;

/// Where the kernel tells what is mounted.
const MOUNTS: &str = "/proc/self/mountinfo";

/// The field of the mount point in a line of [`MOUNTS`] (proc_pid_mountinfo(5)).
const MOUNT_POINT: usize = 4;

/// That of the device, as `major:minor`.
const DEVICE: usize = 2;

/// Ticks (seconds) after which an unused way in is let go.
const AGE: u32 = 60;

/// The file systems mounted inside the export.
#[derive(Debug)]
pub(in super::super) struct Mounts {
    tree: Weak<Tree>,
    export: PathBuf,
    entered: Mutex<HashMap<u32, Entered>>,
    /// We said that two of them go by one number.
    has_met_twins: AtomicBool,
}

/// A way into a file system.
#[derive(Debug)]
struct Entered {
    device: u64,
    way: Arc<OwnedFd>,
    age: u32,
}

impl Mounts {
    /// The mounts inside the tree, which was opened at `export`.
    pub(in super::super) fn new(tree: &Arc<Tree>, export: &Path) -> Self {
        let export = export.canonicalize().unwrap_or_else(|_| export.to_owned());
        Self {
            tree: Arc::downgrade(tree),
            export,
            entered: Mutex::default(),
            has_met_twins: AtomicBool::new(false),
        }
    }

    /// The mark of the file system that an open node lies on.
    pub(in super::super) fn mark_of(&self, node: BorrowedFd<'_>, device: u64) -> Result<u32> {
        if let Some(mark) = self.known_mark(device) {
            return Ok(mark);
        }
        let stat = fstat(node).map_err(refusal)?;
        let flags = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => OFlags::RDONLY | OFlags::DIRECTORY,
            FileType::RegularFile => OFlags::RDONLY,
            // What cannot be opened without side effects is no way in: the root of its file system is.
            _ => {
                self.find_mounts();
                return self.known_mark(device).ok_or(FsError::AccessDenied);
            }
        };
        self.enter(node, flags, device)
    }

    fn known_mark(&self, device: u64) -> Option<u32> {
        let mut entered = self.entered.lock();
        let (&mark, entered) = entered.iter_mut().find(|(_, entered)| entered.device == device)?;
        entered.age = 0;
        Some(mark)
    }

    /// The way into the file system with this mark.
    pub(in super::super) fn way_into(&self, mark: u32) -> Result<Arc<OwnedFd>> {
        if let Some(way) = self.known_way(mark) {
            return Ok(way);
        }
        self.find_mounts();
        self.known_way(mark).ok_or(FsError::Stale)
    }

    fn known_way(&self, mark: u32) -> Option<Arc<OwnedFd>> {
        let mut entered = self.entered.lock();
        let entered = entered.get_mut(&mark)?;
        entered.age = 0;
        Some(Arc::clone(&entered.way))
    }

    /// One second has passed: lets go of what nobody used.
    pub(in super::super) fn tick(&self) {
        self.entered.lock().retain(|_, entered| {
            entered.age += 1;
            entered.age <= AGE
        });
    }

    fn enter(&self, node: BorrowedFd<'_>, flags: OFlags, device: u64) -> Result<u32> {
        let tree = self.tree.upgrade().ok_or(FsError::ServerFault)?;
        let way = tree.reopen(node, flags).map_err(refusal)?;
        let mark = mark(file_system_number(&way).unwrap_or(device));
        let mut entered = self.entered.lock();
        // Copies of a file system, such as snapshots, go by one number: handles of the one would lead into the other.
        if entered.get(&mark).is_some_and(|other| other.device != device && is_mounted(other.device)) {
            if !self.has_met_twins.swap(true, Ordering::Relaxed) {
                let export = self.export.display();
                tracing::warn!(%export, "of two file systems mounted in it that go by one number (copies) only one is served");
            }
            return Err(FsError::AccessDenied);
        }
        entered.insert(mark, Entered { device, way: Arc::new(way), age: 0 });
        Ok(mark)
    }

    /// Enters everything that is mounted inside the export now. What cannot be entered is left out.
    fn find_mounts(&self) {
        let Some(tree) = self.tree.upgrade() else { return };
        let Ok(text) = std::fs::read(MOUNTS) else { return };
        for line in text.split(|&byte| byte == b'\n') {
            let Some(point) = line.split(|&byte| byte == b' ').nth(MOUNT_POINT).map(unescape) else {
                continue;
            };
            let point = Path::new(std::ffi::OsStr::from_bytes(&point));
            let Ok(inside) = point.strip_prefix(&self.export) else { continue };
            let flags = OFlags::PATH | OFlags::CLOEXEC;
            let opened = tree.open_beneath(tree.root.as_fd(), inside.as_os_str().as_bytes(), flags);
            let Ok(opened) = opened else { continue };
            #[allow(clippy::unnecessary_cast)] // the type of the field differs between architectures
            if let Ok(stat) = fstat(&opened) {
                let _ = self.mark_of(opened.as_fd(), stat.st_dev as u64);
            }
        }
    }
}

/// Whether anything of that device is mounted now.
fn is_mounted(device: u64) -> bool {
    let number = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
    let text = std::fs::read(MOUNTS).unwrap_or_default();
    text.split(|&byte| byte == b'\n')
        .any(|line| line.split(|&byte| byte == b' ').nth(DEVICE) == Some(number.as_bytes()))
}

fn mark(number: u64) -> u32 {
    let mut hasher = SipHasher13::new();
    hasher.write_u64(number);
    hasher.finish() as u32
}

/// Blanks and the like stand as a backslash and three octal digits.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|digits| byte == b'\\' && digits.iter().all(u8::is_ascii_digit));
        match digits {
            Some(digits) => {
                let value = digits.iter().fold(0u32, |value, digit| value * 8 + u32::from(digit - b'0'));
                plain.push(value as u8);
                rest = &after[3..];
            }
            None => {
                plain.push(byte);
                rest = after;
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, symlink};

    use rustix::fs::{CWD, Mode, openat};

    use super::super::super::tree::LOOK;
    use super::*;

    #[test]
    fn a_symbolic_link_is_met_where_no_directory_of_its_file_system_was() {
        // Most machines have a tmpfs there.
        let (outside, inside) = (Path::new("/dev"), Path::new("/dev/shm"));
        let device = |path: &Path| std::fs::metadata(path).map(|found| found.dev()).ok();
        if device(inside).is_none_or(|inside| Some(inside) == device(outside)) {
            return;
        }
        let place = tempfile::tempdir_in(inside).expect("everybody may write there");
        let link = place.path().join("link");
        symlink("anywhere", &link).expect("a link");
        let node = openat(CWD, &link, LOOK, Mode::empty()).expect("it is there");
        let tree = Arc::new(Tree::open(outside, true).expect("everybody may look there"));
        let mounts = Mounts::new(&tree, outside);
        let device = device(inside).expect("looked at before");
        let mark = mounts.mark_of(node.as_fd(), device);
        assert!(mark.is_ok());
        for _ in 0..=AGE {
            mounts.tick();
        }
        assert!(mounts.entered.lock().is_empty(), "nobody used it");
        assert_eq!(mounts.mark_of(node.as_fd(), device), mark);
    }

    #[test]
    fn of_two_file_systems_that_go_by_one_number_one_is_entered() {
        let (outside, inside) = (Path::new("/dev"), Path::new("/dev/shm"));
        let device = |path: &Path| std::fs::metadata(path).expect("it is there").dev();
        if !inside.exists() || device(inside) == device(outside) {
            return;
        }
        let node = openat(CWD, inside, LOOK, Mode::empty()).expect("it is there");
        let tree = Arc::new(Tree::open(outside, true).expect("everybody may look there"));
        let mounts = Mounts::new(&tree, outside);
        let mark = mounts.mark_of(node.as_fd(), device(inside)).expect("a directory");
        let is_of = |device| mounts.entered.lock().get_mut(&mark).expect("entered").device = device;
        is_of(device(outside));
        assert_eq!(mounts.mark_of(node.as_fd(), device(inside)), Err(FsError::AccessDenied));
        // One that is mounted no more makes room.
        is_of(u64::from(u32::MAX));
        assert_eq!(mounts.mark_of(node.as_fd(), device(inside)), Ok(mark));
    }

    #[test]
    fn mount_points_are_unescaped() {
        assert_eq!(unescape(br"/a\040b\134c\"), br"/a b\c\");
        assert_eq!(unescape(b"/plain"), b"/plain");
    }
}
