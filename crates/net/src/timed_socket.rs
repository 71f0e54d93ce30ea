//! A socket for one short conversation, whose calls block and which ends within one deadline. What is said is not known here.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, Socket, Type};

use crate::address::unspecified_like;
use crate::connect::reserved_ports;
use crate::peer::Transport;

/// A connected socket. All that is done with it ends within its deadline.
#[derive(Debug)]
pub struct TimedSocket {
    socket: Socket,
    deadline: Instant,
}

/// Readable when the other end has ended a connection, or has said something.
impl AsFd for TimedSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl TimedSocket {
    /// Connects from an address of this host, or from any; from a port below 1024 where that is allowed.
    ///
    /// # Errors
    /// There is no way, nobody listens, or the deadline passed. `AddrNotAvailable`: this host has no such address.
    pub fn connect(
        transport: Transport,
        from: Option<IpAddr>,
        to: SocketAddr,
        patience: Duration,
    ) -> io::Result<Self> {
        let deadline = Instant::now() + patience;
        let from = from.unwrap_or(unspecified_like(to.ip()));
        let connect = |port| Self::connect_from(transport, SocketAddr::new(from, port), to, deadline);
        for port in reserved_ports() {
            match connect(port) {
                Err(error) if matches!(error.kind(), ErrorKind::AddrInUse | ErrorKind::AddrNotAvailable) => {}
                Err(error) if error.kind() == ErrorKind::PermissionDenied => break,
                outcome => return outcome,
            }
        }
        connect(0)
    }

    fn connect_from(
        transport: Transport,
        from: SocketAddr,
        to: SocketAddr,
        deadline: Instant,
    ) -> io::Result<Self> {
        let (kind, protocol) = match transport {
            Transport::Tcp => (Type::STREAM, Protocol::TCP),
            Transport::Udp => (Type::DGRAM, Protocol::UDP),
            // Those who call by it have connections of their own.
            Transport::Quic => return Err(ErrorKind::Unsupported.into()),
        };
        let socket = Self { socket: Socket::new(Domain::for_address(to), kind, Some(protocol))?, deadline };
        socket.socket.bind(&from.into())?;
        socket.socket.connect_timeout(&to.into(), socket.left()?)?;
        Ok(socket)
    }

    /// A socket that is connected, until the deadline.
    pub(crate) fn around(socket: Socket, deadline: Instant) -> Self {
        Self { socket, deadline }
    }

    /// Sends these bytes: on a stream, or as one datagram.
    ///
    /// # Errors
    /// The connection broke, or the deadline passed.
    pub fn send(&self, bytes: &[u8]) -> io::Result<()> {
        self.socket.set_write_timeout(Some(self.left()?))?;
        (&self.socket).write_all(bytes)
    }

    /// Receives as many bytes of a stream as there is room for.
    ///
    /// # Errors
    /// The connection broke or ended, or the deadline passed.
    pub fn receive(&self, mut room: &mut [u8]) -> io::Result<()> {
        // Also for no bytes: empty fragments must not keep anybody beyond the deadline.
        self.left()?;
        while !room.is_empty() {
            match self.receive_within(room, self.left()?) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => room = &mut room[count..],
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Receives what comes first within this time: some bytes of a stream, or a datagram.
    ///
    /// # Errors
    /// The connection broke, or nothing came in time (`TimedOut`).
    pub fn receive_within(&self, room: &mut [u8], patience: Duration) -> io::Result<usize> {
        self.socket.set_read_timeout(Some(patience.min(self.left()?)))?;
        loop {
            match (&self.socket).read(room) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return Err(ErrorKind::TimedOut.into());
                }
                outcome => return outcome,
            }
        }
    }

    fn left(&self) -> io::Result<Duration> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, UdpSocket};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn it_comes_from_the_address_that_is_named() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let server = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        let from = address("127.0.0.7");
        let to = listener.local_addr().expect("bound");
        let stream = TimedSocket::connect(Transport::Tcp, Some(from), to, PATIENCE).expect("connected");
        assert_eq!(listener.accept().expect("accepted").1.ip(), from);
        drop(stream);
        let to = server.local_addr().expect("bound");
        let socket = TimedSocket::connect(Transport::Udp, Some(from), to, PATIENCE).expect("connected");
        socket.send(b"howdy").expect("sent");
        let mut buffer = [0; 16];
        let (length, client) = server.recv_from(&mut buffer).expect("a datagram");
        assert_eq!((&buffer[..length], client.ip()), (&b"howdy"[..], from));
        server.send_to(b"hi", client).expect("sent");
        assert_eq!(socket.receive_within(&mut buffer, PATIENCE).expect("an answer"), 2);
    }

    #[test]
    fn it_ends_with_its_deadline_and_says_which_address_is_not_ours() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let to = listener.local_addr().expect("bound");
        let short = Duration::from_millis(50);
        let stream = TimedSocket::connect(Transport::Tcp, None, to, short).expect("connected");
        let error = stream.receive(&mut [0; 4]).expect_err("nobody says anything");
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        let foreign = Some(address("192.0.2.1"));
        let error = TimedSocket::connect(Transport::Tcp, foreign, to, PATIENCE).expect_err("not ours");
        assert_eq!(error.kind(), ErrorKind::AddrNotAvailable);
    }
}
