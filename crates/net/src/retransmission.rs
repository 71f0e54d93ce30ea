//! How long TCP waits before it sends again what a peer did not acknowledge. By itself it doubles that up to two minutes, so that
//! after a path was away a reply waits for as long again as it was.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::net::{AddressFamily, SocketType, sockopt};

use crate::syscall;

/// Our bound on it.
const BOUND: Duration = Duration::from_secs(3);
/// A peer that acknowledges nothing for so long is gone, and so is one that has had no room for anything for so long. The kernel's
/// 15 attempts take as long by themselves; with a bound on what is between them they would be over much sooner.
const GONE: Duration = Duration::from_secs(924);
/// A peer that says nothing for so long is asked whether it is there. With [`GONE`] the kernel counts the time and no attempts, and
/// as it asks by itself, after two hours, the first question that is lost would be the last.
const ASKED: Duration = Duration::from_secs(300);

/// Bounds it, on a listening socket for all connections that it accepts from now on; where the host has a lower bound, or the kernel
/// knows none (before Linux 6.15), all stays as it is.
pub fn bound(socket: BorrowedFd<'_>) {
    if !syscall::retransmission_wait(socket).is_ok_and(|own| own > BOUND) {
        return;
    }
    if syscall::set_retransmission_wait(socket, BOUND).is_ok() {
        // The kernel refuses neither of a TCP socket.
        let _ = sockopt::set_tcp_user_timeout(socket, GONE.as_millis() as u32);
        let _ = sockopt::set_tcp_keepidle(socket, ASKED);
    }
}

/// Takes that bound back, if it is ours. That a peer is gone after [`GONE`] stays: it takes the kernel as long by itself.
pub fn unbound(socket: BorrowedFd<'_>) -> io::Result<()> {
    if !syscall::retransmission_wait(socket).is_ok_and(|own| own == BOUND) {
        return Ok(());
    }
    let fresh = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None)?;
    let hosts_own = syscall::retransmission_wait(fresh.as_fd())?;
    syscall::set_retransmission_wait(socket, hosts_own)
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use rustix::net::socket;

    use super::*;

    #[test]
    fn connections_that_are_accepted_send_again_soon_and_go_on_for_long() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let fresh = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
        let hosts_own = syscall::retransmission_wait(fresh.as_fd());
        bound(listener.as_fd());
        let _client = TcpStream::connect(listener.local_addr().expect("bound")).expect("it listens");
        let (stream, _) = listener.accept().expect("it comes");
        let connection = stream.as_fd();
        let user_timeout = sockopt::tcp_user_timeout(connection).expect("a connection");
        match hosts_own {
            Ok(hosts_own) if hosts_own > BOUND => {
                assert_eq!(syscall::retransmission_wait(connection).expect("it is known"), BOUND);
                assert_eq!(user_timeout, 924_000);
                assert_eq!(sockopt::tcp_keepidle(connection), Ok(ASKED));
                unbound(connection).expect("it may");
                assert_eq!(syscall::retransmission_wait(connection).expect("it is known"), hosts_own);
            }
            // Before Linux 6.15, or a host that waits less.
            _ => assert_eq!(user_timeout, 0),
        }
    }

    #[test]
    fn what_was_not_bound_stays_as_it_is() {
        let fresh = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
        let Ok(before) = syscall::retransmission_wait(fresh.as_fd()) else { return };
        let less = before.min(Duration::from_secs(2));
        syscall::set_retransmission_wait(fresh.as_fd(), less).expect("it may");
        unbound(fresh.as_fd()).expect("nothing to do");
        bound(fresh.as_fd());
        assert_eq!(syscall::retransmission_wait(fresh.as_fd()).expect("it is known"), less);
        assert_eq!(sockopt::tcp_user_timeout(&fresh), Ok(0));
    }
}
