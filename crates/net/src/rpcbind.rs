//! The way to this host's rpcbind: bytes there and back, all of them within one deadline. What they say is not known here.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use crate::timed_socket::TimedSocket;

/// Where rpcbind listens for this host's own programs, as libtirpc has it.
const SOCKET: &str = "/run/rpcbind.sock";
/// The port of rpcbind, and of portmap before it.
const PORT: u16 = 111;
/// The ports that show a portmapper without a Unix socket that root calls: as `bindresvport` has them.
const PRIVILEGED_PORTS: std::ops::Range<u16> = 600..1024;

/// A connection to rpcbind.
#[derive(Debug)]
pub struct RpcbindStream {
    socket: TimedSocket,
    knows_caller: bool,
}

/// Readable when rpcbind has ended the connection: it says nothing unasked.
impl AsFd for RpcbindStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl RpcbindStream {
    /// Connects through the Unix socket, where rpcbind sees which user calls, or else over loopback, where it believes any
    /// caller with a privileged port.
    ///
    /// # Errors
    /// No rpcbind runs, or none that answers within `patience`.
    pub fn connect(patience: Duration) -> io::Result<Self> {
        let deadline = Instant::now() + patience;
        if let Ok(socket) = connect_unix(patience) {
            return Ok(Self { socket: TimedSocket::around(socket, deadline), knows_caller: true });
        }
        let socket = TimedSocket::around(connect_loopback(patience)?, deadline);
        Ok(Self { socket, knows_caller: false })
    }

    /// Whether rpcbind sees which user calls.
    pub fn knows_caller(&self) -> bool {
        self.knows_caller
    }

    /// The socket to it.
    pub fn socket(&self) -> &TimedSocket {
        &self.socket
    }
}

/// Whether somebody on this host accepts connections at this port: at this address, if it is one of the host, or at any.
pub fn is_listening(address: Option<IpAddr>, port: u16, patience: Duration) -> bool {
    let is_ours = |address: &IpAddr| UdpSocket::bind((*address, 0)).is_ok();
    let loopback = [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)];
    let addresses = address.filter(is_ours).into_iter().chain(loopback);
    // A timeout means that a server is there and busy.
    let is_there = |error: io::Error| error.kind() == io::ErrorKind::TimedOut;
    addresses
        .map(|address| SocketAddr::from((address, port)))
        .any(|address| TcpStream::connect_timeout(&address, patience).map_or_else(is_there, |_| true))
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
