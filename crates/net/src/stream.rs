//! One connection: receive, send memory, send a range of a file, move received bytes to a file. It says which of these it can, so
//! that nothing above asks what it is made of.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use howdah_tls::TlsSession;
use howdah_tune::{Algorithm, Gauges, Sample, SizeChange};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, Shutdown, sockopt};

use crate::address::canonical;
use crate::peer::{Ends, Peer, Transport, TransportSecurity};
use crate::quic::QuicLane;
use crate::secured::Secured;
use crate::syscall;
use crate::tcp_info::{INFORMATION_ROOM, TcpInfo};
use crate::transfer::{Sent, outcome};

/// A connected socket that never blocks.
#[derive(Debug)]
pub struct Stream {
    socket: OwnedFd,
    peer: Peer,
    carrier: Carrier,
    /// TLS, from when it was started.
    tls: OnceLock<Box<Tls>>,
}

/// TLS on a stream.
#[derive(Debug)]
struct Tls {
    secured: Secured,
    /// The peer as the handshake showed it, once that is done.
    peer: OnceLock<Peer>,
}

/// What stands between our bytes and the socket's.
#[derive(Debug)]
enum Carrier {
    /// Nothing: they are the same, and the kernel can move them without us.
    Kernel,
    /// A stream of QUIC, whose connection is on another thread: the socket is one end of a pair.
    Quic(QuicLane),
    /// User space takes each byte in hand, unchanged: as a stream that encrypts does, for tests.
    #[cfg(feature = "simulation")]
    UserSpace(crate::user_space::UserSpace),
}

impl Stream {
    /// A connection from `client`, set up for calls and replies. A peer on another host gets `congestion_control`.
    pub(crate) fn accepted(
        socket: OwnedFd,
        client: SocketAddr,
        congestion_control: Option<Algorithm>,
    ) -> io::Result<Self> {
        let server = rustix::net::getsockname(&socket)?;
        let server = SocketAddr::try_from(server).map_err(|_| io::Error::from(Errno::AFNOSUPPORT))?;
        // A reply is sent in one piece; waiting for more to fill a packet only delays it.
        sockopt::set_tcp_nodelay(&socket, true)?;
        // A client that lost power never says goodbye.
        sockopt::set_socket_keepalive(&socket, true)?;
        let ends = Ends { client, server: canonical(server) };
        let peer = Peer::plain(ends, Transport::Tcp);
        let stream = Self { socket, peer, carrier: Carrier::Kernel, tls: OnceLock::new() };
        if let Some(name) = congestion_control.filter(|_| !ends.are_on_one_host()) {
            // Not allowed: the listener's own does.
            let _ = sockopt::set_tcp_congestion(&stream.socket, name.name());
        }
        Ok(stream)
    }

    /// A stream of QUIC that a client opened, of which this socket is our end.
    pub(crate) fn of_quic(socket: OwnedFd, peer: Peer, lane: QuicLane) -> Self {
        Self { socket, peer, carrier: Carrier::Quic(lane), tls: OnceLock::new() }
    }

    /// The stream of QUIC that it is, if it is one.
    pub fn quic(&self) -> Option<&QuicLane> {
        match &self.carrier {
            Carrier::Quic(lane) => Some(lane),
            _ => None,
        }
    }

    /// Looks at it; the gauges are the caller's.
    ///
    /// # Errors
    /// The kernel does not tell.
    pub fn sample(&self, now: Duration, gauges: &Gauges) -> io::Result<Sample> {
        match self.quic() {
            Some(lane) => Ok(lane.sample(now, rustix::io::ioctl_fionread(&self.socket)?, gauges)),
            None => crate::sample::sample(self.socket.as_fd(), now, gauges),
        }
    }

    /// Does to it what is wanted. The sizes of a stream of QUIC are those of its connection, which stay.
    ///
    /// # Errors
    /// What the kernel refuses; it goes on with the sizes that it has.
    pub fn apply(&self, change: SizeChange) -> io::Result<()> {
        match self.quic() {
            Some(_) => Ok(()),
            None => crate::buffers::apply(self.socket.as_fd(), change),
        }
    }

    /// The same stream without the kernel's shortcuts: user space takes each byte in hand, and may keep some that were received.
    #[cfg(feature = "simulation")]
    #[must_use]
    pub fn through_user_space(self) -> Self {
        Self { carrier: Carrier::UserSpace(crate::user_space::UserSpace::default()), ..self }
    }

    /// The client at the other end.
    pub fn peer(&self) -> &Peer {
        self.tls.get().and_then(|tls| tls.peer.get()).unwrap_or(&self.peer)
    }

    /// From now on all that is received is TLS, beginning with `received`, which came already; and all that is sent, but for `last`,
    /// which goes before it. The handshake goes on as [`Self::receive`] is called.
    ///
    /// # Errors
    /// It is TLS already, or the socket does not take `last` whole.
    pub fn start_tls(&self, session: TlsSession, received: &[u8], last: &[u8]) -> io::Result<()> {
        if self.quic().is_some() {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, "TLS in QUIC, which has its own"));
        }
        if !last.is_empty() && self.send_to_kernel(&[IoSlice::new(last)], false)? != Sent::Bytes(last.len()) {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not take its answers"));
        }
        let tls = Tls { secured: Secured::new(session, received), peer: OnceLock::new() };
        let set = self.tls.set(Box::new(tls));
        set.map_err(|_| io::Error::new(io::ErrorKind::AlreadyExists, "TLS in TLS"))
    }

    /// Whether a handshake of TLS was begun and is not done.
    pub fn is_handshaking(&self) -> bool {
        self.tls.get().is_some_and(|tls| tls.peer.get().is_none())
    }

    /// Whether TLS was started.
    pub fn has_tls(&self) -> bool {
        self.tls.get().is_some()
    }

    /// Bytes of memory that user space holds of what was received: part of a record of TLS, or plaintext that nobody has taken.
    pub fn held(&self) -> usize {
        self.tls.get().map_or(0, |tls| tls.secured.held())
    }

    /// The cipher suite, once the handshake agreed on one.
    pub fn suite(&self) -> Option<&'static str> {
        if self.quic().is_some() {
            return Some("TLS 1.3 (QUIC)");
        }
        self.tls.get().and_then(|tls| tls.secured.ask(TlsSession::suite))
    }

    /// For how long bulk was encrypted and decrypted so far: a connection does that on one CPU at a time.
    pub fn in_cipher(&self) -> Duration {
        self.tls.get().map_or(Duration::ZERO, |tls| tls.secured.in_cipher())
    }

    /// Whether [`Self::send_file`] works. If not, a range of a file is read into memory and sent from there.
    pub fn can_send_file(&self) -> bool {
        self.moves_in_the_kernel()
    }

    /// Whether a [`crate::Pipe`] can move received bytes to a file.
    pub fn can_splice(&self) -> bool {
        self.moves_in_the_kernel()
    }

    /// Whether [`Self::waiting`] and [`Self::wake_at`] count bytes as [`Self::receive`] gives them.
    pub fn knows_waiting(&self) -> bool {
        self.moves_in_the_kernel()
    }

    fn moves_in_the_kernel(&self) -> bool {
        match &self.carrier {
            Carrier::Kernel => self.tls.get().is_none(),
            Carrier::Quic(_) => false,
            #[cfg(feature = "simulation")]
            Carrier::UserSpace(_) => false,
        }
    }

    /// Whether received bytes wait in user space: [`Self::receive`] gives them, and the poller does not know of them.
    pub fn keeps_bytes(&self) -> bool {
        match &self.carrier {
            Carrier::Kernel => self.tls.get().is_some_and(|tls| tls.secured.keeps_bytes()),
            Carrier::Quic(_) => false,
            #[cfg(feature = "simulation")]
            Carrier::UserSpace(kept) => kept.keeps_bytes(),
        }
    }

    /// Receives into `buffer`; 0 bytes: the peer has closed.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<Sent> {
        match &self.carrier {
            Carrier::Kernel => match self.tls.get() {
                None => self.receive_from_kernel(buffer),
                Some(tls) => self.receive_secured(tls, buffer),
            },
            Carrier::Quic(lane) => match self.receive_from_kernel(buffer)? {
                Sent::Bytes(0) if lane.was_reset() => Err(io::ErrorKind::ConnectionReset.into()),
                received => Ok(received),
            },
            #[cfg(feature = "simulation")]
            Carrier::UserSpace(kept) => kept.receive(buffer, |buffer| self.receive_from_kernel(buffer)),
        }
    }

    fn receive_secured(&self, tls: &Tls, buffer: &mut [u8]) -> io::Result<Sent> {
        let received = tls.secured.receive(buffer, self.socket.as_fd());
        if tls.peer.get().is_none() && received.is_ok() {
            // Before anybody sees what came with the end of the handshake.
            let certificate = tls
                .secured
                .ask(|session| (!session.is_handshaking()).then(|| session.peer_certificate().map(Arc::new)));
            if let Some(certificate) = certificate {
                let security = match certificate {
                    Some(_) => TransportSecurity::TlsWithCertificate,
                    None => TransportSecurity::Tls,
                };
                let _ = tls.peer.set(Peer { security, certificate, ..self.peer });
            }
        }
        received
    }

    fn receive_from_kernel(&self, buffer: &mut [u8]) -> io::Result<Sent> {
        outcome(rustix::net::recv(&self.socket, buffer, RecvFlags::empty()).map(|(count, _)| count))
    }

    /// Bytes that wait in the kernel to be received, as they travelled ([`Self::knows_waiting`]).
    pub fn waiting(&self) -> io::Result<usize> {
        Ok(usize::try_from(rustix::io::ioctl_fionread(&self.socket)?).unwrap_or(usize::MAX))
    }

    /// Counts as ready to receive only once `count` bytes wait (`SO_RCVLOWAT`), or the kernel has no room for more. The
    /// kernel makes room for as many.
    pub fn wake_at(&self, count: usize) -> io::Result<()> {
        syscall::set_receive_low_water(self.socket.as_fd(), count)
    }

    /// Looks at the first bytes that wait, and leaves them there. 0 bytes: the peer has closed.
    ///
    /// # Errors
    /// The socket's.
    pub fn peek(&self, buffer: &mut [u8]) -> io::Result<Sent> {
        let peeked = rustix::net::recv(&self.socket, buffer, RecvFlags::PEEK | RecvFlags::DONTWAIT);
        outcome(peeked.map(|(count, _)| count))
    }

    /// Sends pieces of memory, in one call; `more` follows at once.
    pub fn send(&self, pieces: &[IoSlice<'_>], more: bool) -> io::Result<Sent> {
        match self.tls.get() {
            None => self.send_to_kernel(pieces, more),
            Some(tls) => tls.secured.send(pieces, self.socket.as_fd()),
        }
    }

    fn send_to_kernel(&self, pieces: &[IoSlice<'_>], more: bool) -> io::Result<Sent> {
        let mut flags = SendFlags::NOSIGNAL;
        flags.set(SendFlags::MORE, more);
        let sent =
            outcome(rustix::net::sendmsg(&self.socket, pieces, &mut SendAncillaryBuffer::default(), flags));
        if let (Some(lane), Ok(Sent::Bytes(count))) = (self.quic(), &sent) {
            lane.on_sent(*count);
        }
        sent
    }

    /// Sends a range of a file, which does not pass through user space. 0 bytes: the file ends before the range does.
    pub fn send_file(&self, file: BorrowedFd<'_>, offset: u64, length: usize) -> io::Result<Sent> {
        let mut offset = offset;
        outcome(rustix::fs::sendfile(&self.socket, file, Some(&mut offset), length))
    }

    /// Whether all that was sent has come to the peer's host, as far as the kernel knows, or never will, since the peer ended the
    /// connection. What has not may never come once we close it: a peer that still sends is answered by its end at once.
    ///
    /// # Errors
    /// The kernel does not tell.
    pub fn has_arrived(&self) -> io::Result<bool> {
        if let Some(lane) = self.quic() {
            return Ok(lane.has_arrived());
        }
        // Of a connection that was reset the kernel goes on telling what it has thrown away.
        if rustix::net::getpeername(&self.socket) == Err(Errno::NOTCONN) {
            return Ok(true);
        }
        let mut bytes = [0; INFORMATION_ROOM];
        let length = syscall::tcp_info(self.socket.as_fd(), &mut bytes)?;
        let info = TcpInfo::decode(&bytes[..length]);
        let under_way = info.unacknowledged_segments.unwrap_or(0);
        Ok(under_way == 0 && info.unsent_bytes.unwrap_or(0) == 0)
    }

    /// Whether the peer has ended its side in order, all that it sent was received, and it has acknowledged all that was sent to
    /// it. With TLS it must have said so itself: anybody can end what is below.
    pub fn has_ended_in_order(&self) -> bool {
        if let Some(tls) = self.tls.get() {
            return tls.secured.ask(TlsSession::has_ended) && self.has_arrived().unwrap_or(false);
        }
        let peeked = rustix::net::recv(&self.socket, &mut [0_u8; 1], RecvFlags::PEEK | RecvFlags::DONTWAIT);
        let was_reset = || self.quic().is_some_and(QuicLane::was_reset);
        let is_connected = || rustix::net::getpeername(&self.socket) != Err(Errno::NOTCONN) && !was_reset();
        matches!(peeked, Ok((0, _))) && is_connected() && self.has_arrived().unwrap_or(false)
    }

    /// Whether the connection is reset if this process dies, or closes it without another word: then the peer knows that it did not end
    /// in order. What is not sent yet is given up with it.
    pub fn reset_if_lost(&self, resets: bool) {
        let _ = sockopt::set_socket_linger(&self.socket, resets.then_some(Duration::ZERO));
    }

    /// Ends the connection without a farewell: what the peer has not taken is given up with the socket. After [`Self::shut_down`]
    /// the kernel would go on holding it, for minutes, for a peer that shows no window.
    pub fn cut(&self) {
        if let Some(lane) = self.quic() {
            lane.cut();
        }
        let _ = sockopt::set_socket_linger(&self.socket, Some(Duration::ZERO));
        let _ = rustix::net::shutdown(&self.socket, Shutdown::Both);
    }

    /// Ends our direction of the connection: the peer learns that nothing more comes, and may go on sending.
    pub fn end_sending(&self) {
        self.say_end();
        let _ = rustix::net::shutdown(&self.socket, Shutdown::Write);
    }

    fn say_end(&self) {
        if let Some(tls) = self.tls.get() {
            tls.secured.say_end(self.socket.as_fd());
        }
    }

    /// Ends the connection in both directions; whoever waits on it is woken.
    pub fn shut_down(&self) {
        self.say_end();
        let _ = rustix::net::shutdown(&self.socket, Shutdown::Both);
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpStream;

    use super::*;
    use crate::Listener;

    /// Both ends of a connection over loopback.
    fn connected() -> (Stream, TcpStream) {
        let listener = Listener::bind("127.0.0.1:0".parse().expect("an address")).expect("a free port");
        let client = TcpStream::connect(listener.address()).expect("it listens");
        client.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        loop {
            if let Some(stream) = listener.accept().expect("open") {
                return (stream, client);
            }
        }
    }

    #[test]
    fn what_was_sent_has_arrived_once_the_peer_took_it() {
        let (stream, mut client) = connected();
        assert!(stream.has_arrived().expect("a connection"));
        let piece = [7; 64 << 10];
        let mut sent = 0;
        while let Sent::Bytes(count) = stream.send(&[IoSlice::new(&piece)], false).expect("open") {
            sent += count;
        }
        assert!(!stream.has_arrived().expect("a connection"));
        client.read_exact(&mut vec![0; sent]).expect("all of it");
        while !stream.has_arrived().expect("a connection") {
            std::thread::yield_now();
        }
    }

    #[test]
    fn what_a_peer_did_not_want_is_not_waited_for() {
        let (stream, client) = connected();
        let piece = [7; 64 << 10];
        while let Sent::Bytes(_) = stream.send(&[IoSlice::new(&piece)], false).expect("open") {}
        // Its end with bytes unread is a reset.
        drop(client);
        while !stream.has_arrived().expect("a connection") {
            std::thread::yield_now();
        }
    }

    #[test]
    fn what_a_peer_has_not_taken_goes_with_a_connection_that_is_cut() {
        let (stream, mut client) = connected();
        let piece = [7; 64 << 10];
        while let Sent::Bytes(_) = stream.send(&[IoSlice::new(&piece)], false).expect("open") {}
        stream.cut();
        drop(stream);
        // What has reached the client's host it may read; then it learns that there is no more.
        let error = client.read_to_end(&mut Vec::new()).expect_err("no regular end");
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    }
}
