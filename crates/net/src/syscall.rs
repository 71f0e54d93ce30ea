//! The system calls that no library wraps: the one file here with `unsafe` in it.

#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use nix::libc;

/// `SO_RCVLOWAT`: bytes that must wait before a socket counts as readable.
pub fn set_receive_low_water(socket: BorrowedFd<'_>, count: usize) -> io::Result<()> {
    let count = libc::c_int::try_from(count).map_err(|_| io::ErrorKind::InvalidInput)?;
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the kernel reads `length` bytes from `count`, which lives until the call returns.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_RCVLOWAT,
            (&raw const count).cast(),
            length,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
