//! The sizes of a TCP socket, as `howdah-tune` wants them. What the kernel does with each decides the order: a lock is
//! undone only where the kernel is to size the buffer again, a window is clamped before its buffer shrinks, and a buffer is forced before its clamp opens.

use std::io;
use std::os::fd::BorrowedFd;

use howdah_tune::SizeChange;
use rustix::io::Errno;
use rustix::net::sockopt;

use crate::{congestion, retransmission, syscall};

/// `SOCK_SNDBUF_LOCK` (include/uapi/linux/socket.h).
const SEND_LOCKED: u32 = 1;

/// Does to the socket what is wanted.
///
/// # Errors
/// What the kernel refuses; the socket goes on with the sizes that it has.
pub fn apply(socket: BorrowedFd<'_>, change: SizeChange) -> io::Result<()> {
    match change {
        SizeChange::SendBuffer(0) => unlock_send_buffer(socket),
        SizeChange::SendBuffer(size) => force_send_buffer(socket, size),
        SizeChange::UnsentMark(bytes) => syscall::set_unsent_mark(socket, bytes),
        SizeChange::Promise(window) => {
            force_receive_buffer(socket, howdah_tune::floor::receive_buffer_for(window))?;
            syscall::set_window_clamp(socket, window)
        }
        SizeChange::Clamp(window) => syscall::set_window_clamp(socket, window),
        SizeChange::ReceiveBuffer(size) => force_receive_buffer(socket, size),
        SizeChange::Pace(pace) => syscall::set_pace(socket, pace.unwrap_or(u64::MAX)),
        SizeChange::Congestion(algorithm) => congestion::choose(socket, algorithm),
        SizeChange::RetransmissionUnbound => retransmission::unbound(socket),
    }
}

/// What to ask for: the kernel doubles it, for its own bookkeeping.
fn half(size: u64) -> usize {
    usize::try_from(size / 2).unwrap_or(usize::MAX)
}

fn force_send_buffer(socket: BorrowedFd<'_>, size: u64) -> io::Result<()> {
    match sockopt::set_socket_send_buffer_size_force(socket, half(size)) {
        Err(Errno::PERM) => Ok(sockopt::set_socket_send_buffer_size(socket, half(size))?),
        outcome => Ok(outcome?),
    }
}

/// The kernel sizes it again, from what it is.
fn unlock_send_buffer(socket: BorrowedFd<'_>) -> io::Result<()> {
    syscall::set_buffer_locks(socket, syscall::buffer_locks(socket)? & !SEND_LOCKED)
}

/// Never without force: what an ordinary user may ask for is less than the kernel gives by itself.
fn force_receive_buffer(socket: BorrowedFd<'_>, size: u64) -> io::Result<()> {
    Ok(sockopt::set_socket_recv_buffer_size_force(socket, half(size))?)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use rustix::net::{AddressFamily, SocketType};

    use super::*;
    use crate::probe_host;

    #[test]
    fn sizes_are_what_was_wanted_where_they_may_be_forced() {
        let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
        let may_force = probe_host().expect("a socket").may_force;
        apply(socket.as_fd(), SizeChange::UnsentMark(1 << 20)).expect("anybody may");
        apply(socket.as_fd(), SizeChange::Clamp(1 << 20)).expect("anybody may");
        apply(socket.as_fd(), SizeChange::SendBuffer(64 << 20)).expect("less, where more is not allowed");
        let send = sockopt::socket_send_buffer_size(&socket).expect("a size");
        assert_eq!(send == 64 << 20, may_force, "{send}");
        let promised = apply(socket.as_fd(), SizeChange::Promise(16 << 20));
        assert_eq!(promised.is_ok(), may_force, "{promised:?}");
        let receive = sockopt::socket_recv_buffer_size(&socket).expect("a size");
        assert_eq!(receive == 32 << 20, may_force, "{receive}");
    }

    #[test]
    fn a_send_buffer_that_is_given_up_is_the_kernel_s_again() {
        let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
        // Linux 5.14.
        let Ok(0) = syscall::buffer_locks(socket.as_fd()) else { return };
        apply(socket.as_fd(), SizeChange::SendBuffer(1 << 20)).expect("less, where more is not allowed");
        assert_eq!(syscall::buffer_locks(socket.as_fd()).expect("an answer"), SEND_LOCKED);
        apply(socket.as_fd(), SizeChange::SendBuffer(0)).expect("anybody may");
        assert_eq!(syscall::buffer_locks(socket.as_fd()).expect("an answer"), 0);
    }
}
