//! The way to this host's rpcbind: bytes there and back, all of them within one deadline. What they say is not known here.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, SockAddr, Socket, Type};

/// Where rpcbind listens for this host's own programs, as libtirpc has it.
const SOCKET: &str = "/run/rpcbind.sock";
/// The port of rpcbind, and of portmap before it.
const PORT: u16 = 111;
/// The ports that show a portmapper without a Unix socket that root calls: as `bindresvport` has them.
const PRIVILEGED_PORTS: std::ops::Range<u16> = 600..1024;

/// A connection to rpcbind.
#[derive(Debug)]
pub struct RpcbindStream {
    socket: Socket,
    knows_caller: bool,
    deadline: Instant,
}

/// Readable when rpcbind has ended the connection: it says nothing unasked.
impl AsFd for RpcbindStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl RpcbindStream {
    /// Connects through the Unix socket, where rpcbind sees which user calls, or else over loopback, where it believes
    /// whoever has a privileged port.
    ///
    /// # Errors
    /// No rpcbind runs, or none that answers within `patience`.
    pub fn connect(patience: Duration) -> io::Result<Self> {
        let deadline = Instant::now() + patience;
        if let Ok(socket) = connect_unix(patience) {
            return Ok(Self { socket, knows_caller: true, deadline });
        }
        Ok(Self { socket: connect_loopback(patience)?, knows_caller: false, deadline })
    }

    /// Whether rpcbind sees which user calls.
    pub fn knows_caller(&self) -> bool {
        self.knows_caller
    }

    /// Sends these bytes.
    ///
    /// # Errors
    /// The connection broke, or the deadline passed.
    pub fn send(&self, bytes: &[u8]) -> io::Result<()> {
        self.socket.set_write_timeout(Some(self.left()?))?;
        (&self.socket).write_all(bytes)
    }

    /// Receives as many bytes as there is room for.
    ///
    /// # Errors
    /// The connection broke or ended, or the deadline passed.
    pub fn receive(&self, mut room: &mut [u8]) -> io::Result<()> {
        // Also for no bytes: empty fragments must not keep anybody beyond the deadline.
        self.left()?;
        while !room.is_empty() {
            self.socket.set_read_timeout(Some(self.left()?))?;
            match (&self.socket).read(room) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => room = &mut room[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn left(&self) -> io::Result<Duration> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
    }
}

/// Whether somebody on this host accepts connections at this port.
pub fn is_listening(port: u16, patience: Duration) -> bool {
    let addresses =
        [SocketAddr::from((Ipv4Addr::LOCALHOST, port)), SocketAddr::from((Ipv6Addr::LOCALHOST, port))];
    addresses.iter().any(|address| TcpStream::connect_timeout(address, patience).is_ok())
}

fn connect_unix(patience: Duration) -> io::Result<Socket> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.connect_timeout(&SockAddr::unix(SOCKET)?, patience)?;
    Ok(socket)
}

fn connect_loopback(patience: Duration) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    // The first free port, if we may have one. Without one it is rpcbind that says it does not want us.
    for port in PRIVILEGED_PORTS.rev() {
        match socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)).into()) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            _ => break,
        }
    }
    socket.connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)).into(), patience)?;
    Ok(socket)
}
