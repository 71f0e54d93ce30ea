//! A UDP socket that is connected to one server: it takes datagrams from that server only, and always from the same port
//! of ours, by which servers know calls that come again.

use std::io::{self, ErrorKind, IoSlice};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::{RcvBufForce, SndBufForce};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendFlags};
use socket2::{Domain, Protocol, Socket, Type};

use crate::address::unspecified_like;
use crate::connect::reserved_ports;
use crate::path_mtu::{USUAL_MTU, of_connected};
use crate::syscall;
use crate::transfer::{Place, Sent, Wait, outcome};

/// Room asked for in each direction, in bytes: a window of large replies that come at once.
const ROOM: usize = 8 << 20;
/// The path MTU of loopback, where the kernel does not know it: the longest packet of IPv4, though the interface would take one
/// byte more.
const LOOPBACK_MTU: usize = 65_535;

/// A connected UDP socket. One thread receives and waits in the kernel for what comes, or several take turns; another may
/// wait for it besides, or for a time, and be woken.
#[derive(Debug)]
pub struct UdpClient {
    socket: Socket,
    wake: OwnedFd,
    server: SocketAddr,
    /// Held by who looks for another address of ours.
    moving: Mutex<()>,
}

impl UdpClient {
    /// A socket for this server; from a port below 1024 if that is wanted and allowed. A receive that waits does so for
    /// `tick` before it says that nothing came.
    pub fn connect(server: SocketAddr, reserved_port: bool, tick: Duration) -> io::Result<Self> {
        for port in reserved_ports().filter(|_| reserved_port) {
            match Self::connect_from(port, server, tick) {
                Err(error) if matches!(error.kind(), ErrorKind::AddrInUse | ErrorKind::AddrNotAvailable) => {}
                Err(error) if error.kind() == ErrorKind::PermissionDenied => break,
                outcome => return outcome,
            }
        }
        Self::connect_from(0, server, tick)
    }

    fn connect_from(port: u16, server: SocketAddr, tick: Duration) -> io::Result<Self> {
        let socket = new_socket(server)?;
        socket.bind(&any(server, port).into())?;
        make_room(&socket);
        socket.connect(&server.into())?;
        socket.set_read_timeout(Some(tick))?;
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { socket, wake, server, moving: Mutex::default() })
    }

    /// Comes from another address of this host if the one it came from is gone, as with another network; from the same port, if
    /// that is still free. To be connected binds a socket to an address: of IPv4 nothing can be sent from one that is gone, of
    /// IPv6 nothing comes back. Says whether it did.
    ///
    /// # Errors
    /// The address is gone, and there is no other way to the server.
    pub fn leave_lost_address(&self) -> io::Result<bool> {
        let Ok(_moving) = self.moving.try_lock() else { return Ok(false) };
        let mut local = self.local();
        let port = local.port();
        local.set_port(0);
        match new_socket(self.server)?.bind(&local.into()) {
            Err(error) if error.kind() == ErrorKind::AddrNotAvailable => {}
            // The way was lost just when it was to be taken.
            Ok(()) if local.ip().is_unspecified() => {}
            outcome => return outcome.map(|()| false),
        }
        // As long as there is no way, it stays as it is: a socket that is not connected takes datagrams from anybody.
        new_socket(self.server)?.connect(&self.server.into())?;
        rustix::net::connect_unspec(&self.socket)?;
        // A port that was asked for by its number is kept anyhow.
        let _ = self.socket.bind(&any(self.server, port).into());
        self.socket.connect(&self.server.into())?;
        Ok(true)
    }

    /// The server's address and port.
    pub fn server(&self) -> SocketAddr {
        self.server
    }

    /// Our address and port.
    pub fn local(&self) -> SocketAddr {
        let local = self.socket.local_addr().ok().and_then(|local| local.as_socket());
        local.expect("a bound socket of IP has an address")
    }

    /// The most bytes in one packet on the way to the server, as far as the kernel knows.
    pub fn path_mtu(&self) -> usize {
        let kernel_mtu = of_connected(&self.socket);
        let is_here = self.server.ip().is_loopback() || self.server.ip() == self.local().ip();
        kernel_mtu.unwrap_or(if is_here { LOOPBACK_MTU } else { USUAL_MTU })
    }

    /// From now on its packets are never cut, on this host or on the way: one that is too long is refused, or vanishes.
    pub fn forbid_cutting(&self) -> io::Result<()> {
        syscall::forbid_cutting(self.socket.as_fd(), self.server.is_ipv6())
    }

    /// How much may wait to be received, in bytes as the kernel counts them.
    pub fn receive_room(&self) -> io::Result<usize> {
        self.socket.recv_buffer_size()
    }

    /// Sends pieces of memory as one datagram.
    pub fn send(&self, pieces: &[IoSlice<'_>]) -> io::Result<Sent> {
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        outcome(rustix::net::sendmsg(&self.socket, pieces, &mut SendAncillaryBuffer::default(), flags))
    }

    /// Receives one datagram, as much of it as fits, into one place after the other (three at most).
    pub fn receive(&self, places: &mut [Place<'_>], wait: Wait) -> io::Result<Sent> {
        syscall::receive_appending(self.socket.as_fd(), places, wait)
    }

    /// Waits until something can be received, somebody wakes us, or the time has come.
    pub fn wait_to_receive(&self, until: Option<Instant>) -> io::Result<()> {
        let mut polled = [PollFd::new(&self.wake, PollFlags::IN), PollFd::new(&self.socket, PollFlags::IN)];
        self.wait_woken(&mut polled, until)
    }

    /// The same, whatever can be received.
    pub fn wait_to_be_woken(&self, until: Option<Instant>) -> io::Result<()> {
        self.wait_woken(&mut [PollFd::new(&self.wake, PollFlags::IN)], until)
    }

    fn wait_woken(&self, polled: &mut [PollFd<'_>], until: Option<Instant>) -> io::Result<()> {
        wait(polled, until.map(|until| until.saturating_duration_since(Instant::now())))?;
        if polled[0].revents().contains(PollFlags::IN) {
            let _ = rustix::io::read(&self.wake, &mut [0; 8]);
        }
        Ok(())
    }

    /// Whether something can be received now.
    pub fn is_readable(&self) -> io::Result<bool> {
        let mut polled = [PollFd::new(&self.socket, PollFlags::IN)];
        wait(&mut polled, Some(Duration::ZERO))?;
        Ok(polled[0].revents().contains(PollFlags::IN))
    }

    /// Waits until something can be sent, or the time is over.
    pub fn wait_to_send(&self, most: Duration) -> io::Result<()> {
        wait(&mut [PollFd::new(&self.socket, PollFlags::OUT)], Some(most))
    }

    /// Wakes who waits to be woken.
    pub fn wake(&self) {
        // The counter holds 2^64 - 2 wakes: it cannot be full.
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
    }
}

fn new_socket(server: SocketAddr) -> io::Result<Socket> {
    Socket::new(Domain::for_address(server), Type::DGRAM, Some(Protocol::UDP))
}

/// Any address of ours that the server may be reached from.
fn any(server: SocketAddr, port: u16) -> SocketAddr {
    SocketAddr::new(unspecified_like(server.ip()), port)
}

fn make_room(socket: &Socket) {
    // Without privilege the host's `net.core.rmem_max` and `wmem_max` bound it.
    if setsockopt(socket, RcvBufForce, &ROOM).is_err() {
        let _ = socket.set_recv_buffer_size(ROOM);
    }
    if setsockopt(socket, SndBufForce, &ROOM).is_err() {
        let _ = socket.set_send_buffer_size(ROOM);
    }
}

fn wait(polled: &mut [PollFd<'_>], most: Option<Duration>) -> io::Result<()> {
    let most = most.map(|most| Timespec::try_from(most).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 }));
    match poll(polled, most.as_ref()) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use howdah_needs::{Lack, skipped};

    use super::*;
    use crate::{Namespace, Offloads, Tun};

    const TICK: Duration = Duration::from_millis(10);

    #[test]
    fn datagrams_go_out_in_one_piece_and_come_in_from_the_server_only() {
        let server = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        let stranger = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        let client =
            UdpClient::connect(server.local_addr().expect("bound"), false, TICK).expect("a connected socket");
        assert_eq!(client.path_mtu(), LOOPBACK_MTU);
        let sent = client.send(&[IoSlice::new(b"how"), IoSlice::new(b"dy")]).expect("sent");
        assert_eq!(sent, Sent::Bytes(5));
        let mut buffer = [0; 16];
        let (length, from) = server.recv_from(&mut buffer).expect("a datagram");
        assert_eq!((&buffer[..length], from), (&b"howdy"[..], client.local()));
        stranger.send_to(b"strange", client.local()).expect("sent");
        server.send_to(b"hi", client.local()).expect("sent");
        client.wait_to_receive(Some(Instant::now() + Duration::from_secs(10))).expect("waited");
        let [mut first, mut second, mut third] = [b"<".to_vec(), Vec::new(), Vec::new()];
        let mut receive = |wait| {
            let mut places = [(&mut first, 1), (&mut second, 2), (&mut third, 9)]
                .map(|(buffer, most)| Place { buffer, most });
            client.receive(&mut places, wait)
        };
        assert_eq!(receive(Wait::No).expect("received"), Sent::Bytes(2));
        assert_eq!(receive(Wait::No).expect("nothing more"), Sent::WouldBlock);
        assert_eq!(receive(Wait::Some).expect("nothing more"), Sent::WouldBlock);
        assert!(!client.is_readable().expect("looked"));
        server.send_to(b"howdy", client.local()).expect("sent");
        client.wait_to_receive(Some(Instant::now() + Duration::from_secs(10))).expect("waited");
        assert!(client.is_readable().expect("looked"));
        assert_eq!(receive(Wait::Some).expect("received"), Sent::Bytes(5));
        assert_eq!([&first[..], &second, &third], [&b"<hh"[..], b"iow", b"dy"]);
    }

    fn ip(arguments: &str) {
        let status = std::process::Command::new("ip").args(arguments.split(' ')).status();
        assert!(status.expect("ip, of the package iproute2").success(), "ip {arguments}");
    }

    /// A host with one interface, which loses its address and gets another one.
    fn moves(server: &str, first: &str, second: &str, reserved_port: bool) {
        let local =
            |address: &str| address.split_once('/').and_then(|(ip, _)| ip.parse().ok()).expect("an address");
        // Of IPv6 an address that is still compared with those of neighbours is taken for nothing.
        let add = |address: &str| {
            ip(&format!(
                "address add {address} dev one{}",
                if address.contains(':') { " nodad" } else { "" }
            ));
        };
        add(first);
        let client = UdpClient::connect(SocketAddr::new(local(server), 2049), reserved_port, TICK);
        let client = client.expect("a connected socket");
        let before = client.local();
        assert_eq!(before.ip(), local(first));
        assert!(!client.leave_lost_address().expect("nothing is gone"));
        ip(&format!("address del {first} dev one"));
        client.leave_lost_address().expect_err("there is no way");
        assert_eq!(client.local(), before);
        add(second);
        assert!(client.leave_lost_address().expect("there is a way"));
        assert_eq!(client.local(), SocketAddr::new(local(second), before.port()));
        assert_eq!(client.send(&[IoSlice::new(b"howdy")]).expect("sent"), Sent::Bytes(5));
        ip(&format!("address del {second} dev one"));
    }

    #[test]
    fn another_address_is_taken_when_its_own_is_gone_and_the_port_is_kept() {
        let host = match Namespace::new() {
            Ok(host) => host,
            Err(error) => {
                return skipped(Lack::Namespaces, format_args!("making network namespaces: {error}"));
            }
        };
        let on_a_host = || {
            let _interface = Tun::open("one", Offloads::None).expect("an interface");
            ip("link set one up");
            for reserved_port in [true, false] {
                moves("10.1.2.9/24", "10.1.2.1/24", "10.1.2.2/24", reserved_port);
                moves("fd01::9/64", "fd01::1/64", "fd01::2/64", reserved_port);
            }
        };
        host.run_in(on_a_host).expect("a thread");
    }

    #[test]
    fn who_waits_is_woken() {
        let server = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        let client =
            UdpClient::connect(server.local_addr().expect("bound"), false, TICK).expect("a connected socket");
        std::thread::scope(|scope| {
            let waiting = scope
                .spawn(|| client.wait_to_receive(None).and(client.wait_to_be_woken(Some(Instant::now()))));
            client.wake();
            waiting.join().expect("no panic").expect("woken");
        });
    }
}
