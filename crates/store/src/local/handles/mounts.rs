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

/// Ticks (seconds) after which an unused way in is let go.
const AGE: u32 = 60;

/// The file systems mounted inside the export.
#[derive(Debug)]
pub(in super::super) struct Mounts {
    tree: Weak<Tree>,
    export: PathBuf,
    entered: Mutex<HashMap<u32, Entered>>,
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
        Self { tree: Arc::downgrade(tree), export, entered: Mutex::default() }
    }

    /// The mark of the file system that an open node lies on.
    pub(in super::super) fn mark_of(&self, node: BorrowedFd<'_>, device: u64) -> Result<u32> {
        let mut entered = self.entered.lock();
        if let Some((&mark, entered)) = entered.iter_mut().find(|(_, entered)| entered.device == device) {
            entered.age = 0;
            return Ok(mark);
        }
        drop(entered);
        self.enter(node, device)
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

    fn enter(&self, node: BorrowedFd<'_>, device: u64) -> Result<u32> {
        let tree = self.tree.upgrade().ok_or(FsError::ServerFault)?;
        let stat = fstat(node).map_err(refusal)?;
        let flags = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => OFlags::RDONLY | OFlags::DIRECTORY,
            FileType::RegularFile => OFlags::RDONLY,
            // Neither can be opened without side effects; the directory it is in was met before.
            _ => return Err(FsError::AccessDenied),
        };
        let way = tree.reopen(node, flags).map_err(refusal)?;
        let mark = mark(file_system_number(&way).unwrap_or(device));
        self.entered.lock().insert(mark, Entered { device, way: Arc::new(way), age: 0 });
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
    use super::*;

    #[test]
    fn mount_points_are_unescaped() {
        assert_eq!(unescape(br"/a\040b\134c\"), br"/a b\c\");
        assert_eq!(unescape(b"/plain"), b"/plain");
    }
}
