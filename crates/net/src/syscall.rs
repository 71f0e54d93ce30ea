//! The system calls that no library wraps: the one file here with `unsafe` in it.

#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;

use bytes::BytesMut;
use nix::libc;

use crate::connect::{Place, Wait};
use crate::stream::Sent;

/// `SO_RCVLOWAT`: bytes that must wait before a socket counts as readable.
pub fn set_receive_low_water(socket: BorrowedFd<'_>, count: usize) -> io::Result<()> {
    set_number(socket, libc::SOL_SOCKET, libc::SO_RCVLOWAT, count as u64)
}

/// `TCP_NOTSENT_LOWAT`: the socket takes no more while so many bytes are unsent.
pub fn set_unsent_mark(socket: BorrowedFd<'_>, bytes: u64) -> io::Result<()> {
    set_number(socket, libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, bytes)
}

/// `TCP_WINDOW_CLAMP`: the largest window that is offered from now on.
pub fn set_window_clamp(socket: BorrowedFd<'_>, bytes: u64) -> io::Result<()> {
    set_number(socket, libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, bytes)
}

/// Sets an option that is an `int`.
fn set_number(socket: BorrowedFd<'_>, level: libc::c_int, option: libc::c_int, value: u64) -> io::Result<()> {
    let value = libc::c_int::try_from(value).map_err(|_| io::ErrorKind::InvalidInput)?;
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the kernel reads `length` bytes from `value`, which lives until the call returns.
    done(unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, (&raw const value).cast(), length) })
}

/// `TCP_INFO`: what the kernel tells of a connection, as many bytes as it has of it.
pub fn tcp_info(socket: BorrowedFd<'_>, bytes: &mut [u8]) -> io::Result<usize> {
    get_bytes(socket, libc::IPPROTO_TCP, libc::TCP_INFO, bytes)
}

/// `SO_MEMINFO`: what the socket holds.
pub fn memory_info(socket: BorrowedFd<'_>, bytes: &mut [u8]) -> io::Result<usize> {
    get_bytes(socket, libc::SOL_SOCKET, libc::SO_MEMINFO, bytes)
}

/// Gets an option that is a struct; how much of it there is.
fn get_bytes(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    option: libc::c_int,
    bytes: &mut [u8],
) -> io::Result<usize> {
    let mut length = libc::socklen_t::try_from(bytes.len()).unwrap_or(libc::socklen_t::MAX);
    // SAFETY: the kernel writes at most `length` bytes into `bytes`, which has as many, and the length that it wrote.
    done(unsafe {
        libc::getsockopt(socket.as_raw_fd(), level, option, bytes.as_mut_ptr().cast(), &raw mut length)
    })?;
    Ok(length as usize)
}

/// `recvmsg` into the spare capacity of buffers, one after the other: memory that is about to be overwritten is not
/// zeroed first.
pub fn receive_appending(socket: BorrowedFd<'_>, places: &mut [Place<'_>], wait: Wait) -> io::Result<Sent> {
    const PLACES: usize = 3;
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

/// `read` into the spare capacity of a buffer, at most `most` bytes.
pub fn read_appending(file: BorrowedFd<'_>, buffer: &mut BytesMut, most: usize) -> io::Result<usize> {
    let spare = buffer.spare_capacity_mut();
    let most = most.min(spare.len());
    // SAFETY: the kernel writes at most `most` bytes into spare capacity of that length, which is borrowed mutably.
    let length = unsafe { libc::read(file.as_raw_fd(), spare.as_mut_ptr().cast(), most) };
    let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
    // SAFETY: the kernel has just initialised that many bytes behind the buffer's end.
    unsafe { buffer.set_len(buffer.len() + length) };
    Ok(length)
}

/// `TUNSETIFF`: makes the file an interface of that name, with packets that begin with their IP header after the kernel's
/// header about offloads.
pub fn make_tun(file: BorrowedFd<'_>, name: &str) -> io::Result<()> {
    // SAFETY: `ifreq` is plain data, and all zeros is a valid one.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.as_bytes()).take(libc::IFNAMSIZ - 1) {
        *to = *from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short;
    // SAFETY: the kernel reads and writes an `ifreq`, which lives until the call returns.
    done(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as _, &raw mut request) })
}

/// `TUNSETVNETHDRSZ`: how long that header is.
pub fn set_tun_header_size(file: BorrowedFd<'_>, bytes: libc::c_int) -> io::Result<()> {
    // SAFETY: the kernel reads an `int`, which lives until the call returns.
    done(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETVNETHDRSZ as _, &raw const bytes) })
}

/// `TUNSETOFFLOAD`: what the kernel may leave to us (`TUN_F_…`).
pub fn set_tun_offloads(file: BorrowedFd<'_>, flags: u32) -> io::Result<()> {
    // SAFETY: the argument is a number, not a pointer.
    done(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETOFFLOAD as _, libc::c_ulong::from(flags)) })
}

/// Has the command's process move into a network namespace before it becomes another program.
pub fn enter_before_exec(command: &mut Command, namespace: Arc<OwnedFd>) {
    let enter = move || {
        // SAFETY: `setns` takes numbers. It is a bare system call, which is all that may be made between fork and exec.
        done(unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) })
    };
    // SAFETY: the closure makes one system call and allocates nothing, not even to report that it failed.
    unsafe { command.pre_exec(enter) };
}

/// Bytes of a page of memory.
pub fn page_size() -> u64 {
    // SAFETY: it takes a number and gives a number.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(size).unwrap_or(4096)
}

fn done(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
