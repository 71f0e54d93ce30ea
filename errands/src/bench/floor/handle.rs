//! `name_to_handle_at`, which no safe library has.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// The most bytes that a kernel puts into a handle (`MAX_HANDLE_SZ`).
const MOST: usize = 128;

/// `struct file_handle`, with room.
#[repr(C)]
struct FileHandle {
    length: libc::c_uint,
    kind: libc::c_int,
    bytes: [u8; MOST],
}

/// The length of the handle of a name in a directory; of the directory itself, if the name is empty.
pub fn of(directory: impl AsFd, name: &CStr) -> io::Result<usize> {
    let mut handle = FileHandle { length: MOST as libc::c_uint, kind: 0, bytes: [0; MOST] };
    let mut mount = 0;
    // SAFETY: all pointers are valid for the length of the call; the kernel writes at most `length` bytes of handle.
    let result = unsafe {
        libc::name_to_handle_at(
            directory.as_fd().as_raw_fd(),
            name.as_ptr(),
            (&raw mut handle).cast(),
            &raw mut mount,
            libc::AT_EMPTY_PATH,
        )
    };
    if result == 0 { Ok(handle.length as usize) } else { Err(io::Error::last_os_error()) }
}
