//! The system calls that rustix does not offer, or not in the shape that is needed here. The one file of this
//! crate with unsafe code; it knows no handle, no caller and no cache.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_int, c_long};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use rustix::io::Errno;

type Result<T> = std::result::Result<T, Errno>;

/// The most bytes that a kernel handle holds (Linux' `MAX_HANDLE_SZ`).
pub(super) const KERNEL_HANDLE_MAX: usize = 128;

/// The empty path of the `AT_EMPTY_PATH` family.
const EMPTY: &CStr = c"";

/// What `name_to_handle_at` gives.
pub(super) struct KernelHandle {
    kind: i32,
    length: usize,
    bytes: [u8; KERNEL_HANDLE_MAX],
}

impl KernelHandle {
    pub(super) fn kind(&self) -> i32 {
        self.kind
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// `struct file_handle` with room for the longest.
#[repr(C)]
struct RawHandle {
    length: u32,
    kind: i32,
    bytes: [u8; KERNEL_HANDLE_MAX],
}

fn check(result: c_long) -> Result<c_long> {
    if result < 0 {
        let code = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
        return Err(Errno::from_raw_os_error(code));
    }
    Ok(result)
}

/// The kernel's handle of an open node (`None`), or of a name in a directory; never follows a link.
pub(super) fn name_to_handle(at: BorrowedFd<'_>, name: Option<&CStr>) -> Result<KernelHandle> {
    let mut raw = RawHandle { length: KERNEL_HANDLE_MAX as u32, kind: 0, bytes: [0; KERNEL_HANDLE_MAX] };
    let mut mount: c_int = 0;
    let flags = if name.is_some() { 0 } else { libc::AT_EMPTY_PATH };
    // SAFETY: `raw` is laid out as the kernel's struct with `length` bytes behind it, and the path ends in NUL.
    check(unsafe {
        libc::syscall(
            libc::SYS_name_to_handle_at,
            at.as_raw_fd(),
            name.unwrap_or(EMPTY).as_ptr(),
            &raw mut raw,
            &raw mut mount,
            flags,
        )
    })?;
    let length = (raw.length as usize).min(KERNEL_HANDLE_MAX);
    Ok(KernelHandle { kind: raw.kind, length, bytes: raw.bytes })
}

/// Opens the node of a kernel handle on the file system that `mount` lies on. Needs `CAP_DAC_READ_SEARCH`.
pub(super) fn open_by_handle(
    mount: BorrowedFd<'_>,
    kind: i32,
    bytes: &[u8],
    flags: c_int,
) -> Result<OwnedFd> {
    let mut raw = RawHandle { length: 0, kind, bytes: [0; KERNEL_HANDLE_MAX] };
    raw.bytes.get_mut(..bytes.len()).ok_or(Errno::INVAL)?.copy_from_slice(bytes);
    raw.length = u32::try_from(bytes.len()).map_err(|_| Errno::INVAL)?;
    // SAFETY: `raw` is laid out as the kernel's struct and outlives the call.
    let descriptor = check(unsafe {
        libc::syscall(libc::SYS_open_by_handle_at, mount.as_raw_fd(), &raw mut raw, flags | libc::O_CLOEXEC)
    })?;
    // SAFETY: the kernel just made this descriptor, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor as RawFd) })
}

/// What the kernel tells of changes to single nodes (`fanotify_init`): which node, in which directory, by which process.
pub(super) fn start_change_events() -> Result<OwnedFd> {
    let flags = libc::FAN_CLASS_NOTIF
        | libc::FAN_CLOEXEC
        | libc::FAN_NONBLOCK
        | libc::FAN_REPORT_FID
        | libc::FAN_REPORT_DIR_FID;
    // SAFETY: the call takes two numbers.
    let descriptor = check(unsafe { libc::fanotify_init(flags, libc::O_RDONLY as u32) }.into())?;
    // SAFETY: the kernel just made this descriptor, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor as RawFd) })
}

/// Lets the kernel tell of these changes of a node from now on, or no more (`fanotify_mark`). Links at the end of the path are
/// followed.
pub(super) fn watch_changes(
    events: BorrowedFd<'_>,
    is_wanted: bool,
    mask: u64,
    at: BorrowedFd<'_>,
    name: &CStr,
) -> Result<()> {
    let flags = if is_wanted { libc::FAN_MARK_ADD } else { libc::FAN_MARK_REMOVE };
    // SAFETY: the path ends in NUL.
    let marked =
        unsafe { libc::fanotify_mark(events.as_raw_fd(), flags, mask, at.as_raw_fd(), name.as_ptr()) };
    check(marked.into()).map(drop)
}

/// Sets this thread's file system user id, and says whether it is that one now. Never the C library's function,
/// which may tell every thread.
pub(super) fn set_file_system_user(user: u32) -> bool {
    set_and_verify(libc::SYS_setfsuid, user)
}

/// Sets this thread's file system group id, and says whether it is that one now.
pub(super) fn set_file_system_group(group: u32) -> bool {
    set_and_verify(libc::SYS_setfsgid, group)
}

/// These calls tell no error, only the id before: asked for an impossible id, the one that is.
fn set_and_verify(number: c_long, id: u32) -> bool {
    // SAFETY: both calls take one number and touch no memory of ours.
    let now = unsafe {
        libc::syscall(number, id);
        libc::syscall(number, u32::MAX)
    };
    now as u32 == id
}

/// Sets this thread's supplementary groups.
pub(super) fn set_groups(groups: &[u32]) -> Result<()> {
    // SAFETY: the kernel reads `groups.len()` ids from the slice.
    check(unsafe { libc::syscall(libc::SYS_setgroups, groups.len(), groups.as_ptr()) }).map(drop)
}

/// Whether the ids of this thread have these rights (`R_OK`…) on an open node (`faccessat2`).
pub(super) fn access(node: BorrowedFd<'_>, rights: c_int) -> Result<()> {
    let flags = libc::AT_EMPTY_PATH | libc::AT_EACCESS;
    // SAFETY: the path is a constant that ends in NUL.
    check(unsafe { libc::syscall(libc::SYS_faccessat2, node.as_raw_fd(), EMPTY.as_ptr(), rights, flags) })
        .map(drop)
}

/// Sets the mode of an open node, also one opened with `O_PATH` (`fchmodat2`, Linux 6.6).
pub(super) fn change_mode(node: BorrowedFd<'_>, mode: u32) -> Result<()> {
    let flags = libc::AT_EMPTY_PATH;
    // SAFETY: the path is a constant that ends in NUL.
    check(unsafe { libc::syscall(libc::SYS_fchmodat2, node.as_raw_fd(), EMPTY.as_ptr(), mode, flags) })
        .map(drop)
}

/// Lets a range of one file share the storage of a range of another (`FICLONERANGE`); a `count` of 0 means up to the end.
pub(super) fn clone_range(
    input: BorrowedFd<'_>,
    from: u64,
    output: BorrowedFd<'_>,
    to: u64,
    count: u64,
) -> Result<()> {
    let range = libc::file_clone_range {
        src_fd: input.as_raw_fd().into(),
        src_offset: from,
        src_length: count,
        dest_offset: to,
    };
    // SAFETY: the kernel reads the structure, which outlives the call.
    check(unsafe { libc::syscall(libc::SYS_ioctl, output.as_raw_fd(), libc::FICLONERANGE, &raw const range) })
        .map(drop)
}

/// Fills `buffer` with directory entries as the kernel lays them out (`linux_dirent64`), and says how many bytes.
pub(super) fn read_entries(directory: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<usize> {
    // SAFETY: the kernel writes at most `buffer.len()` bytes.
    let count = check(unsafe {
        libc::syscall(libc::SYS_getdents64, directory.as_raw_fd(), buffer.as_mut_ptr(), buffer.len())
    })?;
    Ok(count as usize)
}

/// Reads up to `count` bytes at `offset` behind what is in `buffer`, without zeroing the room first. Says how many.
pub(super) fn read_behind(file: impl AsFd, offset: u64, count: usize, buffer: &mut Vec<u8>) -> Result<usize> {
    buffer.reserve(count);
    let room: &mut [MaybeUninit<u8>] = &mut buffer.spare_capacity_mut()[..count];
    let (filled, _) = rustix::io::pread(file, room, offset)?;
    let read = filled.len();
    let length = buffer.len() + read;
    // SAFETY: `pread` initialised `read` bytes right behind the old length.
    unsafe { buffer.set_len(length) };
    Ok(read)
}

/// Where a symbolic link points: appends the target to `target`.
pub(super) fn read_link_behind(link: BorrowedFd<'_>, longest: usize, target: &mut Vec<u8>) -> Result<usize> {
    target.reserve(longest);
    let room: &mut [MaybeUninit<u8>] = &mut target.spare_capacity_mut()[..longest];
    let (filled, _) = rustix::fs::readlinkat_raw(link, EMPTY, room)?;
    let read = filled.len();
    let length = target.len() + read;
    // SAFETY: `readlinkat` initialised `read` bytes right behind the old length.
    unsafe { target.set_len(length) };
    Ok(read)
}

/// A lock of so many bytes from a start on, 0 for all up to the end, as `fcntl` takes it.
pub(super) fn lock_record(kind: c_int, start: i64, length: i64) -> libc::flock {
    // SAFETY: integers only, for which zeros are values; `l_pid` must be 0.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as i16;
    lock.l_whence = libc::SEEK_SET as i16;
    (lock.l_start, lock.l_len) = (start, length);
    lock
}

/// Sets or clears a lock of an open file description; waits for none.
pub(super) fn set_lock(file: BorrowedFd<'_>, lock: &libc::flock) -> Result<()> {
    // SAFETY: the kernel reads a whole struct.
    check(c_long::from(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, std::ptr::from_ref(lock)) }))
        .map(drop)
}

/// Finds a lock that is in the way of this one, and puts it in its place; of kind `F_UNLCK` if there is none.
pub(super) fn get_lock(file: BorrowedFd<'_>, lock: &mut libc::flock) -> Result<()> {
    // SAFETY: the kernel reads and writes a whole struct.
    check(c_long::from(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, std::ptr::from_mut(lock)) }))
        .map(drop)
}

/// Sets this thread's effective user id, and no other of its ids (`setresuid`).
pub(super) fn set_effective_user(user: u32) -> Result<()> {
    // SAFETY: the call takes three numbers and touches no memory of ours.
    check(unsafe { libc::syscall(libc::SYS_setresuid, u32::MAX, user, u32::MAX) }).map(drop)
}

/// A kind of quota, by the kernel's number.
#[derive(Debug, Clone, Copy)]
pub(super) enum QuotaKind {
    /// `USRQUOTA`
    User = 0,
    /// `GRPQUOTA`
    Group = 1,
    /// One that no kernel has.
    Unknown = 255,
}

/// What a user or group has used of the file system of an open node, and may use at most (`quotactl_fd`, Linux 5.14).
pub(super) fn get_quota(node: BorrowedFd<'_>, kind: QuotaKind, id: u32) -> Result<libc::dqblk> {
    // SAFETY: integers only, for which zeros are values.
    let mut quota: libc::dqblk = unsafe { std::mem::zeroed() };
    let command = libc::QCMD(libc::Q_GETQUOTA, kind as c_int);
    // SAFETY: the kernel fills the structure, which outlives the call.
    check(unsafe { libc::syscall(libc::SYS_quotactl_fd, node.as_raw_fd(), command, id, &raw mut quota) })?;
    Ok(quota)
}
