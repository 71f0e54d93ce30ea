//! One end of what is carried from one connection to another: the same for those that were accepted and those that were made.

use std::io::{self, IoSlice};
use std::os::fd::AsFd;

use crate::connect::Connection;
use crate::stream::Stream;
use crate::transfer::{Place, Sent, Wait};

/// A connection whose bytes go to another one, and that takes those of the other. No call waits: a [`Connection`] has been set
/// so ([`Connection::block_never`]).
pub trait RelayEnd: AsFd {
    /// Whether a [`crate::Pipe`] can take its bytes and give it some.
    fn can_splice(&self) -> bool;

    /// Receives up to `most` bytes behind those in `buffer`. 0 bytes: the peer has ended its side.
    ///
    /// # Errors
    /// The connection is over.
    fn receive_behind(&self, buffer: &mut Vec<u8>, most: usize) -> io::Result<Sent>;

    /// Sends the beginning of these bytes, as much as goes now; what did not go comes first the next time.
    ///
    /// # Errors
    /// The connection is over.
    fn send_some(&self, bytes: &[u8]) -> io::Result<Sent>;

    /// Announces to the peer that nothing more comes.
    fn end_sending(&self);

    /// What the kernel has against the connection, if it is broken and that was not reported yet.
    fn take_error(&self) -> Option<io::Error> {
        rustix::net::sockopt::socket_error(self.as_fd()).ok()?.err().map(io::Error::from)
    }

    /// Ends the connection by a reset, though others still hold it.
    fn reset(&self);
}

impl RelayEnd for Stream {
    fn can_splice(&self) -> bool {
        Self::can_splice(self)
    }

    fn receive_behind(&self, buffer: &mut Vec<u8>, most: usize) -> io::Result<Sent> {
        let before = buffer.len();
        buffer.resize(before + most, 0);
        let received = self.receive(&mut buffer[before..]);
        let count = if let Ok(Sent::Bytes(count)) = received { count } else { 0 };
        buffer.truncate(before + count);
        received
    }

    fn send_some(&self, bytes: &[u8]) -> io::Result<Sent> {
        self.send(&[IoSlice::new(bytes)], false)
    }

    fn end_sending(&self) {
        Self::end_sending(self);
    }

    fn reset(&self) {
        // Before anything else is said: after a regular end the peer might not hear of the reset.
        let _ = rustix::net::connect_unspec(self.as_fd());
        self.cut();
    }
}

impl RelayEnd for Connection {
    fn can_splice(&self) -> bool {
        !self.is_secure()
    }

    fn receive_behind(&self, buffer: &mut Vec<u8>, most: usize) -> io::Result<Sent> {
        self.receive(&mut [Place { buffer, most }], Wait::No)
    }

    fn send_some(&self, bytes: &[u8]) -> io::Result<Sent> {
        self.send(&[IoSlice::new(bytes)], false)
    }

    fn end_sending(&self) {
        Self::end_sending(self);
    }

    fn reset(&self) {
        // Before anything else is said: after a regular end the peer might not hear of the reset.
        let _ = rustix::net::connect_unspec(self.as_fd());
        self.cut();
    }
}
