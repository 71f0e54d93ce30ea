//! A listening TCP socket.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{PoisonError, RwLock};

use howdah_tune::{Algorithm, Setting};
use rustix::io::Errno;
use rustix::net::{SocketFlags, sockopt};
use socket2::{Domain, Protocol, Socket, Type};

use crate::address::canonical;
use crate::congestion::{BBR, LOCAL};
use crate::stream::Stream;
use crate::{retransmission, syscall};

/// Connections that may wait to be accepted; the kernel bounds it by `net.core.somaxconn`.
const BACKLOG: i32 = 1024;

/// The kernel rounds the first window down to whole segments, and takes the scale from what is left.
const SEGMENT_MOST: u64 = 64 << 10;

/// A listening socket.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    /// The congestion control for peers on other hosts, if it is not the listener's own: bbr where the host has it, since a
    /// loss is no congestion on a long path; else the host's.
    congestion_control: RwLock<Option<Algorithm>>,
    /// The congestion control that sockets of this host begin with.
    hosts_own: Option<Algorithm>,
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
        let hosts_own = Algorithm::parse(&sockopt::tcp_congestion(&socket)?);
        let listener = Self { socket, address, congestion_control: RwLock::default(), hosts_own };
        listener.set_congestion(Setting::Auto)?;
        Ok(listener)
    }

    /// After an outage of the path replies go on soon, on all connections that are accepted from now on. Who looks at them takes that back
    /// where a path is so long that it would be sent twice ([`howdah_tune::SizeChange::RetransmissionUnbound`]).
    pub fn bound_retransmission(&self) {
        retransmission::bound(self.socket.as_fd());
    }

    /// The same socket for others to wait on.
    pub fn socket(&self) -> io::Result<TcpListener> {
        self.socket.try_clone()
    }

    /// What connections that are accepted from now on send by; automatic: cubic to peers on this host, bbr to others, as far as
    /// they may be chosen.
    pub fn set_congestion(&self, algorithm: Setting<Algorithm>) -> io::Result<()> {
        let remote = match algorithm {
            Setting::Fixed(name) => {
                sockopt::set_tcp_congestion(&self.socket, name.name())?;
                None
            }
            Setting::Auto => self.suit_peers()?,
        };
        *self.congestion_control.write().unwrap_or_else(PoisonError::into_inner) = remote;
        Ok(())
    }

    /// Gives the listener what suits peers on this host; returns what suits others, if it is something else.
    fn suit_peers(&self) -> io::Result<Option<Algorithm>> {
        let has_bbr = sockopt::set_tcp_congestion(&self.socket, BBR).is_ok();
        // What it is left with if the local one is not allowed: the host's, which always is.
        if let Some(host) = self.hosts_own {
            let _ = sockopt::set_tcp_congestion(&self.socket, host.name());
        }
        let _ = sockopt::set_tcp_congestion(&self.socket, LOCAL);
        let own = Algorithm::parse(&sockopt::tcp_congestion(&self.socket)?);
        let remote = if has_bbr { Algorithm::parse(BBR) } else { self.hosts_own };
        Ok(remote.filter(|_| remote != own))
    }

    /// What connections are offered from the start from now on, and what scale their windows have; `None`: as the kernel has it.
    ///
    /// # Errors
    /// Buffers may not be forced here, or the kernel does not say what is locked (`SO_BUF_LOCK`, Linux 5.14).
    pub fn offer(&self, window: Option<u64>) -> io::Result<()> {
        let socket = self.socket.as_fd();
        // Whether it can be undone comes first.
        syscall::buffer_locks(socket)?;
        let to_usize = |size: u64| usize::try_from(size).unwrap_or(usize::MAX);
        match window {
            Some(window) => {
                let size = to_usize(window + SEGMENT_MOST);
                Ok(sockopt::set_socket_recv_buffer_size_force(socket, size)?)
            }
            None => {
                // Not what this one had: it may have been another server's before (socket activation).
                let fresh =
                    Socket::new(Domain::for_address(self.address), Type::STREAM, Some(Protocol::TCP))?;
                let kernels_own = sockopt::socket_recv_buffer_size(&fresh)?;
                sockopt::set_socket_recv_buffer_size_force(socket, kernels_own / 2)?;
                syscall::set_buffer_locks(socket, 0)
            }
        }
    }

    /// Connections that are accepted from now on hold at most so much unsent (`TCP_NOTSENT_LOWAT`); 0: as much as their buffers.
    /// They have it from the listener, so that it costs no call of each.
    ///
    /// # Errors
    /// The kernel refuses it.
    pub fn set_unsent_mark(&self, bytes: u64) -> io::Result<()> {
        syscall::set_unsent_mark(self.socket.as_fd(), bytes)
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
                let remote = *self.congestion_control.read().unwrap_or_else(PoisonError::into_inner);
                Stream::accepted(socket, canonical(client), remote).map(Some)
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

#[cfg(test)]
mod tests {
    use std::net::TcpStream;
    use std::time::Duration;

    use howdah_tune::{Gauges, Sample};

    use super::*;
    use crate::{probe_host, sample};

    const WINDOW: u64 = 64 << 20;

    fn accept(listener: &Listener) -> (TcpStream, Stream) {
        let client = TcpStream::connect(listener.address()).expect("it listens");
        loop {
            if let Some(stream) = listener.accept().expect("open") {
                return (client, stream);
            }
        }
    }

    /// What a connection to this listener begins with.
    fn next(listener: &Listener) -> Sample {
        let (_client, stream) = accept(listener);
        sample(stream.as_fd(), Duration::ZERO, &Gauges::default()).expect("a connection")
    }

    #[test]
    fn a_listener_decides_the_scale_of_windows_and_it_can_be_undone() {
        let listener = Listener::bind("127.0.0.1:0".parse().expect("an address")).expect("a free port");
        let before = next(&listener).receiving;
        if !probe_host().expect("a socket").may_force {
            return assert!(listener.offer(Some(WINDOW)).is_err());
        }
        listener.offer(Some(WINDOW)).expect("it may");
        let offered = next(&listener).receiving;
        // More than 2^26 bytes: RFC 7323 2.2, as Linux does it.
        assert!(offered.window_limit >= 65_535 << 11, "{offered:?}");
        assert!(offered.window >= Some(WINDOW) && offered.buffer >= 2 * WINDOW, "{offered:?}");
        listener.offer(None).expect("it may");
        let after = next(&listener).receiving;
        assert_eq!((after.window_limit, after.buffer), (before.window_limit, before.buffer));
    }
}
