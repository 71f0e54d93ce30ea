//! A listening TCP socket.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::Errno;
use rustix::net::{SocketFlags, sockopt};
use socket2::{Domain, Protocol, Socket, Type};

use crate::address::canonical;
use crate::host::BBR;
use crate::stream::Stream;

/// Connections that may wait to be accepted; the kernel bounds it by `net.core.somaxconn`.
const BACKLOG: i32 = 1024;

/// The congestion control for a peer on this host, where bbr only costs throughput. A connection inherits it from its listener,
/// since one that starts with bbr stays paced whatever it is given later (`docs/decisions/0005-hot-path.md`).
const LOCAL_CONGESTION_CONTROL: &str = "cubic";

/// A listening socket.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    /// The congestion control for peers on other hosts, if it is not the listener's own: bbr where the host has it, since a
    /// loss is no congestion on a long path; else the host's.
    congestion_control: Option<String>,
}

impl Listener {
    /// Listens at this address; port 0 takes any free port. An IPv6 wildcard takes IPv4 clients too.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket =
            Socket::new(Domain::for_address(address), Type::STREAM.nonblocking(), Some(Protocol::TCP))?;
        if address.is_ipv6() {
            socket.set_only_v6(!address.ip().is_unspecified())?;
        }
        // A server that restarts finds connections of its predecessor in TIME_WAIT, and must not be kept waiting.
        socket.set_reuse_address(true)?;
        socket.bind(&address.into())?;
        socket.listen(BACKLOG)?;
        Self::from_socket(socket.into())
    }

    /// Takes over a socket that listens already (socket activation).
    pub fn from_socket(socket: TcpListener) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let address = socket.local_addr()?;
        let host = sockopt::tcp_congestion(&socket)?;
        let has_bbr = sockopt::set_tcp_congestion(&socket, BBR).is_ok();
        let remote = if has_bbr { BBR.to_owned() } else { host.clone() };
        // What it is left with if the local one is not allowed: the host's, which always is.
        let _ = sockopt::set_tcp_congestion(&socket, &host);
        let _ = sockopt::set_tcp_congestion(&socket, LOCAL_CONGESTION_CONTROL);
        let own = sockopt::tcp_congestion(&socket)?;
        Ok(Self { socket, address, congestion_control: (own != remote).then_some(remote) })
    }

    /// The address listened at, with its real port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next connection that waits; `None` if there is none.
    pub fn accept(&self) -> io::Result<Option<Stream>> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        match rustix::net::acceptfrom_with(&self.socket, flags) {
            Ok((socket, Some(client))) => {
                let client = SocketAddr::try_from(client).map_err(|_| io::Error::from(Errno::AFNOSUPPORT))?;
                Stream::accepted(socket, canonical(client), self.congestion_control.as_deref()).map(Some)
            }
            // A connection that is gone again before it was accepted is no failure of the listener.
            Ok((_, None)) | Err(Errno::AGAIN | Errno::CONNABORTED | Errno::INTR | Errno::PERM) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
