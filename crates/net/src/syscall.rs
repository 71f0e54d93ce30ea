//! The system calls that no library wraps: the one file here with `unsafe` in it.

#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use nix::libc;

use crate::connect::{Place, Wait};
use crate::stream::Sent;

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

/// `recvmsg` into the spare capacity of buffers, one after the other: memory that is about to be overwritten is not
/// zeroed first.
pub fn receive_appending(socket: BorrowedFd<'_>, places: &mut [Place<'_>], wait: Wait) -> io::Result<Sent> {
    const PLACES: usize = 2;
    let mut vectors = [libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; PLACES];
    let count = places.len().min(PLACES);
    for (vector, place) in vectors.iter_mut().zip(places.iter_mut()) {
        place.buffer.reserve(place.most);
        let spare = place.buffer.spare_capacity_mut();
        vector.iov_base = spare.as_mut_ptr().cast();
        vector.iov_len = place.most.min(spare.len());
    }
    let flags = match wait {
        Wait::No => libc::MSG_DONTWAIT,
        Wait::Some => 0,
        Wait::All => libc::MSG_WAITALL,
    };
    // SAFETY: `msghdr` is plain data, and all zeros is a valid one.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = vectors.as_mut_ptr();
    message.msg_iovlen = count as _;
    // SAFETY: each vector is spare capacity of a buffer that is borrowed mutably until after the call.
    let received = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) };
    let Ok(received) = usize::try_from(received) else {
        let error = io::Error::last_os_error();
        return match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(Sent::WouldBlock),
            _ => Err(error),
        };
    };
    let mut left = received;
    for (vector, place) in vectors.iter().zip(places.iter_mut()) {
        let filled = left.min(vector.iov_len);
        left -= filled;
        // SAFETY: the kernel filled the vectors in order, `received` bytes in all, so that the first `filled` bytes of
        // this one, which begins where the buffer ends, are initialised.
        unsafe { place.buffer.set_len(place.buffer.len() + filled) };
    }
    Ok(Sent::Bytes(received))
}
