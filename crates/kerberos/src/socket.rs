//! The socket between a process and its helper: whole messages, each at most so long, within a time.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::io::{Errno, retry_on_intr};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair};
use zeroize::Zeroizing;

use crate::message::MESSAGE_MAX;

/// A message that may hold a key.
pub(crate) type Message = Zeroizing<Vec<u8>>;

/// Two ends, that no program inherits unless it is handed one.
pub(crate) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?)
}

/// Sends a message.
pub(crate) fn send_message(socket: impl AsFd, message: &[u8]) -> io::Result<()> {
    retry_on_intr(|| send(&socket, message, SendFlags::NOSIGNAL))?;
    Ok(())
}

/// The next message; none once the other end is closed. One that is too long is empty, which is none that can be read.
pub(crate) fn next_message(socket: impl AsFd) -> io::Result<Option<Message>> {
    receive(socket, RecvFlags::empty())
}

/// The next message by a point in time.
pub(crate) fn next_message_by(socket: impl AsFd, deadline: Instant) -> io::Result<Option<Message>> {
    let left = deadline.saturating_duration_since(Instant::now());
    // No time at all would mean all time.
    set_socket_timeout(&socket, Timeout::Recv, Some(left.max(Duration::from_millis(1))))?;
    receive(socket, RecvFlags::empty())
}

/// Throws away what has come.
pub(crate) fn drain(socket: impl AsFd) {
    while let Ok(Some(_)) = receive(&socket, RecvFlags::DONTWAIT) {}
}

/// Its length is asked for first: a message may hold a key, and wiping room for the longest would take longer than all else.
fn receive(socket: impl AsFd, flags: RecvFlags) -> io::Result<Option<Message>> {
    let receive = |message: &mut [u8], flags| {
        retry_on_intr(|| recv(&socket, &mut *message, flags).map(|(_, length)| length))
    };
    let length = receive(&mut [], flags | RecvFlags::PEEK | RecvFlags::TRUNC)?;
    let mut message = Zeroizing::new(vec![0; if length > MESSAGE_MAX { 0 } else { length }]);
    if length == 0 {
        return Ok(None);
    }
    receive(&mut message[..], flags)?;
    Ok(Some(message))
}

/// Whether an error means that the time is over.
pub(crate) fn is_late(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::AGAIN.raw_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_stay_whole_and_long_ones_are_none() {
        let (one, other) = pair().expect("a pair");
        for length in [1, 5, MESSAGE_MAX] {
            send_message(&one, &vec![7; length]).expect("sent");
            assert_eq!(next_message(&other).expect("received").map(|message| message.len()), Some(length));
        }
        send_message(&one, &vec![7; MESSAGE_MAX + 1]).expect("sent");
        assert_eq!(next_message(&other).expect("received").map(|message| message.len()), Some(0));
        let error = next_message_by(&other, Instant::now()).expect_err("nothing there");
        assert!(is_late(&error), "{error}");
        drop(one);
        assert!(next_message(&other).expect("the end").is_none());
    }
}
