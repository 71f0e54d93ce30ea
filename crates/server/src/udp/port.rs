//! One UDP socket that is served.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};

use howdah_net::{Datagram, Interface, Token, UdpSocket};

use super::traffic::{Counts, UdpCounters};

/// A socket, by what it is known, and what it has carried.
#[derive(Debug)]
pub struct Port {
    socket: UdpSocket,
    token: Token,
    interface: Option<Interface>,
    counters: UdpCounters,
}

impl Port {
    /// A socket that has carried nothing yet.
    pub fn new(socket: UdpSocket, token: Token, interface: Option<Interface>) -> Self {
        Self { socket, token, interface, counters: UdpCounters::default() }
    }

    /// The socket.
    pub fn socket(&self) -> &UdpSocket {
        &self.socket
    }

    /// Its token.
    pub fn token(&self) -> Token {
        self.token
    }

    /// The interface that it is on, as it was when it was made.
    pub fn interface(&self) -> Option<&Interface> {
        self.interface.as_ref()
    }

    /// Receives a datagram, if one waits that is not too long.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<Datagram>> {
        let received = self.socket.receive(buffer);
        if let Ok(Some(datagram)) = &received {
            self.counters.on_received(datagram.length);
        }
        received
    }

    /// Answers a datagram.
    pub fn reply(&self, pieces: &[IoSlice<'_>], to: &Datagram) -> io::Result<()> {
        let sent = self.socket.reply(pieces, to);
        match &sent {
            Ok(()) => self.counters.on_sent(pieces.iter().map(|piece| piece.len()).sum()),
            Err(_) => self.counters.on_unsent(),
        }
        sent
    }

    /// What it has carried.
    pub fn counts(&self) -> Counts {
        // A kernel that does not report drops is older than 4.12.
        self.counters.read(self.socket.drops().map_or(0, u64::from))
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
