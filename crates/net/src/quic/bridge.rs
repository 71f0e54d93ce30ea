//! Moves the bytes of one stream between its connection and a pair of Unix sockets. What one side does not take is not read from the
//! other, but for one piece in each direction.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use bytes::{Buf, Bytes};
use howdah_quic::{Engine, StreamKey, StreamRead};
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendFlags, Shutdown, SocketFlags, SocketType, sockopt,
};

use super::link::StreamState;
use crate::transfer::{Sent, outcome};

/// So much is taken of either side at once, in bytes: what is longer than the allocator keeps would be mapped for each piece.
const PIECE: usize = 64 << 10;
/// Pieces of memory that one call gives to the socket.
const PIECES: usize = 128;
/// Bytes that each of the two sockets holds for the other, as far as the host allows.
const SOCKET_ROOM: usize = 512 << 10;

/// The connection's end of a stream.
pub(super) struct Bridge {
    stream: StreamKey,
    socket: OwnedFd,
    state: Arc<StreamState>,
    /// What came from the socket and the connection did not take.
    outgoing: Bytes,
    /// What came from the peer and the socket did not take.
    incoming: VecDeque<Bytes>,
    incoming_bytes: usize,
    may_receive: bool,
    may_send: bool,
    may_read: bool,
    /// Nothing more goes to the peer.
    has_sent_all: bool,
    /// The peer sends no more; all that it sent has gone to the socket.
    has_read_all: bool,
    has_given_all: bool,
    /// The peer cut a direction short.
    was_cut: bool,
}

/// Makes the two ends of a stream: the connection's, and that of its user. Neither blocks.
pub(super) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let (ours, theirs) = rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    for end in [&ours, &theirs] {
        // What the host does not allow, it bounds.
        let _ = sockopt::set_socket_send_buffer_size(end, SOCKET_ROOM);
    }
    Ok((ours, theirs))
}

impl Bridge {
    pub(super) fn new(stream: StreamKey, socket: OwnedFd, state: Arc<StreamState>) -> Self {
        let (outgoing, incoming, incoming_bytes) = Default::default();
        Self {
            stream,
            socket,
            state,
            outgoing,
            incoming,
            incoming_bytes,
            may_receive: true,
            may_send: true,
            may_read: true,
            has_sent_all: false,
            has_read_all: false,
            has_given_all: false,
            was_cut: false,
        }
    }

    pub(super) fn stream(&self) -> StreamKey {
        self.stream
    }

    /// The socket is ready.
    pub(super) fn on_ready(&mut self, readable: bool, writable: bool) {
        self.may_receive |= readable;
        self.may_send |= writable;
    }

    /// There is something to read of the stream.
    pub(super) fn on_readable(&mut self) {
        self.may_read = true;
    }

    /// Its connection is lost, or the peer gave it up: its user learns that it did not end in order.
    pub(super) fn on_reset(&mut self) {
        self.state.on_reset();
        self.incoming.clear();
        let _ = rustix::net::shutdown(&self.socket, Shutdown::Both);
        self.was_cut = true;
        (self.has_sent_all, self.has_read_all, self.has_given_all) = (true, true, true);
    }

    /// The peer reads no more.
    pub(super) fn on_stopped(&mut self) {
        self.has_sent_all = true;
        self.was_cut = true;
        self.outgoing.clear();
        let _ = rustix::net::shutdown(&self.socket, Shutdown::Read);
    }

    /// Whether the peer cut a direction short. The stream has a place among those of its connection until ours is reset, too.
    pub(super) fn was_cut(&self) -> bool {
        self.was_cut
    }

    /// Moves what there is; says whether the stream is over in both directions.
    pub(super) fn pump(&mut self, engine: &mut Engine, scratch: &mut Vec<u8>) -> bool {
        self.pump_to_peer(engine, scratch);
        self.pump_from_peer(engine);
        self.has_sent_all && self.has_given_all
    }

    fn pump_to_peer(&mut self, engine: &mut Engine, scratch: &mut Vec<u8>) {
        while !self.has_sent_all {
            if self.outgoing.is_empty() && !self.receive(engine, scratch) {
                return;
            }
            let before = self.outgoing.len();
            if !engine.write(self.stream, &mut self.outgoing) {
                return self.on_stopped();
            }
            self.state.take(before - self.outgoing.len());
            if !self.outgoing.is_empty() {
                return;
            }
        }
    }

    /// Takes a piece from the socket; says whether there is one.
    fn receive(&mut self, engine: &mut Engine, scratch: &mut Vec<u8>) -> bool {
        if !self.may_receive {
            return false;
        }
        scratch.resize(PIECE, 0);
        let received = rustix::net::recv(&self.socket, &mut scratch[..], RecvFlags::DONTWAIT);
        match outcome(received.map(|(count, _)| count)) {
            Ok(Sent::WouldBlock) => self.may_receive = false,
            Ok(Sent::Bytes(count)) if count > 0 => {
                self.outgoing = Bytes::copy_from_slice(&scratch[..count]);
                return true;
            }
            Ok(Sent::Bytes(_)) | Err(_) => self.end(engine),
        }
        false
    }

    /// The user of the stream sends no more.
    fn end(&mut self, engine: &mut Engine) {
        self.has_sent_all = true;
        if self.state.is_cut() {
            engine.reset(self.stream);
            (self.has_read_all, self.has_given_all) = (true, true);
            self.incoming.clear();
        } else {
            engine.finish(self.stream);
        }
    }

    fn pump_from_peer(&mut self, engine: &mut Engine) {
        while !self.has_given_all {
            self.read(engine);
            if self.has_given_all {
                return;
            }
            if self.incoming.is_empty() {
                if self.has_read_all {
                    self.has_given_all = true;
                    let _ = rustix::net::shutdown(&self.socket, Shutdown::Write);
                }
                return;
            }
            if !self.may_send || !self.give(engine) {
                return;
            }
        }
    }

    fn read(&mut self, engine: &mut Engine) {
        if self.has_read_all || !self.may_read || self.incoming_bytes >= PIECE {
            return;
        }
        let before = self.incoming.len();
        let read = engine.read(self.stream, PIECE - self.incoming_bytes, &mut self.incoming);
        let count = self.incoming.iter().skip(before).map(Bytes::len).sum();
        self.incoming_bytes += count;
        self.state.receive(count);
        match read {
            StreamRead::More => {}
            StreamRead::Blocked => self.may_read = false,
            StreamRead::Ended => self.has_read_all = true,
            StreamRead::Reset => self.on_reset(),
        }
    }

    /// Gives the socket what came; says whether it took some.
    fn give(&mut self, engine: &mut Engine) -> bool {
        let pieces: Vec<IoSlice<'_>> =
            self.incoming.iter().take(PIECES).map(|bytes| IoSlice::new(bytes)).collect();
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        let sent = rustix::net::sendmsg(&self.socket, &pieces, &mut SendAncillaryBuffer::default(), flags);
        match outcome(sent) {
            Ok(Sent::Bytes(count)) => {
                self.forget_given(count);
                true
            }
            Ok(Sent::WouldBlock) => {
                self.may_send = false;
                false
            }
            Err(_) => {
                // Its user reads no more.
                engine.stop_reading(self.stream);
                self.incoming.clear();
                (self.has_read_all, self.has_given_all) = (true, true);
                false
            }
        }
    }

    fn forget_given(&mut self, count: usize) {
        self.incoming_bytes -= count;
        let mut left = count;
        while let Some(first) = self.incoming.front_mut().filter(|_| left > 0) {
            let gone = left.min(first.len());
            first.advance(gone);
            left -= gone;
            if first.is_empty() {
                self.incoming.pop_front();
            }
        }
    }
}

impl AsFd for Bridge {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
