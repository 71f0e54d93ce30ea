//! File systems on which a file that is removed may leave its handle to a new one: to be warned of before they are served.

use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags, StatVfsMountFlags, fstat, fstatfs, fstatvfs, open};
use rustix::io::Result;

use super::super::identify::identify;
use super::super::syscall;
use super::form::LONGEST_KERNEL_HANDLE;
use super::mountinfo::mounts_inside;

/// File systems (`statfs.f_type`) whose kernel handles have no number that distinguishes a file from those that had its place
/// before it, or not always.
const FUSE: u64 = 0x6573_5546;
const FAT: u64 = 0x4d44;
const EXFAT: u64 = 0x2011_bab0;
const OVERLAY: u64 = 0x794c_7630;

/// Why a handle may come to name another file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandleReuse {
    /// The file system has neither handles nor times of birth: a handle is the file number alone.
    FileNumbers,
    /// The file system makes handles that it may use again.
    KernelHandles,
    /// A file gets another identity when it is first written: copy-up of an overlay that has no handles (`nfs_export=off`), or handles
    /// that are too long, as with layers on tmpfs or Btrfs.
    CopyUp,
}

/// The kind of file system that a directory lies on, and why handles of files on it may come to name other files; none where
/// they do not.
pub fn handle_reuse(directory: &Path) -> Result<Option<(String, HandleReuse)>> {
    let file = open(directory, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    // Where nothing is removed, no number is used again.
    if fstatvfs(&file)?.f_flag.contains(StatVfsMountFlags::RDONLY) {
        return Ok(None);
    }
    let has_birth = identify(file.as_fd())?.birth.is_some();
    let fits = |length: usize, kind: i32| length <= LONGEST_KERNEL_HANDLE && (0..256).contains(&kind);
    let has_handle = syscall::name_to_handle(file.as_fd(), None)
        .is_ok_and(|handle| fits(handle.as_bytes().len(), handle.kind()));
    #[allow(clippy::unnecessary_cast)] // the types of the fields differ between architectures
    let (kind, device) = (fstatfs(&file)?.f_type as u64, fstat(&file)?.st_dev as u64);
    let why = match kind {
        OVERLAY if !has_handle => HandleReuse::CopyUp,
        _ if !has_handle && !has_birth => HandleReuse::FileNumbers,
        FUSE | FAT | EXFAT if has_handle => HandleReuse::KernelHandles,
        _ => return Ok(None),
    };
    Ok(Some((name_of(device).unwrap_or_else(|| format!("file system {kind:#x}")), why)))
}

/// What the kernel calls the kind of file system on a device.
fn name_of(device: u64) -> Option<String> {
    let text = std::fs::read("/proc/self/mountinfo").ok()?;
    let mount = mounts_inside(Path::new("/"), &text).into_iter().find(|mount| mount.device == device)?;
    String::from_utf8(mount.kind).ok().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_with_numbers_alone_is_told() {
        // It has no handles and no times of birth, and is there for every user.
        let found = handle_reuse(Path::new("/proc")).expect("it is there");
        assert_eq!(found, Some(("proc".to_owned(), HandleReuse::FileNumbers)));
        let usual = tempfile::tempdir().expect("a directory");
        assert_eq!(handle_reuse(usual.path()), Ok(None), "a file system for files");
        assert!(handle_reuse(&usual.path().join("absent")).is_err());
    }
}
