//! A UDP socket that knows which of our addresses a datagram was sent to, and answers from that one.

use std::io::{self, ErrorKind, IoSlice};
use std::net::{IpAddr, Ipv6Addr, SocketAddr, UdpSocket as StdSocket};
use std::os::fd::{AsFd, BorrowedFd};

use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::{Ipv4PacketInfo, Ipv6RecvPacketInfo, RcvBufForce, SndBufForce};
use socket2::{Domain, Protocol, Socket, Type};

use crate::address::canonical;
use crate::peer::{Ends, Peer, Transport};
use crate::sample::memory_of;
use crate::syscall;

/// Receive room asked for, in bytes: the usual default holds fewer than a hundred small datagrams.
const RECEIVE_ROOM: usize = 8 << 20;
/// Send room asked for, in bytes: a reply that finds none is dropped, and its client waits a second for it. The usual
/// default holds six of 32 KiB on a slow line.
const SEND_ROOM: usize = 8 << 20;

/// A bound UDP socket that never blocks.
#[derive(Debug)]
pub struct UdpSocket {
    socket: StdSocket,
    address: SocketAddr,
}

/// Where a datagram came from and went to.
#[derive(Debug, Clone, Copy)]
pub struct Datagram {
    /// Length in bytes.
    pub length: usize,
    /// Who sent it, and to which of our addresses.
    pub ends: Ends,
}

impl Datagram {
    /// The client that sent it.
    pub fn peer(&self) -> Peer {
        Peer::plain(self.ends, Transport::Udp)
    }
}

impl UdpSocket {
    /// A socket at this address; port 0 takes any free port. An IPv6 wildcard takes IPv4 clients too.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = unbound(address)?;
        socket.bind(&address.into())?;
        Self::bound(socket.into())
    }

    /// Lets further sockets of this user be bound at this one's address. After it was bound, not before: so that a port
    /// that somebody else serves, us included, is still refused.
    pub fn share(&self) -> io::Result<()> {
        socket2::SockRef::from(&self.socket).set_reuse_port(true)
    }

    /// A further socket at an address whose sockets share it. On an interface it takes, of those datagrams that come in
    /// there, all; without one, it takes its part of those that no interface's socket takes. Whose they are is decided
    /// by both ends' addresses and ports: all datagrams of one peer meet the same socket while their number stays.
    pub fn bind_beside(address: SocketAddr, interface: Option<&str>) -> io::Result<Self> {
        let socket = unbound(address)?;
        socket.set_reuse_port(true)?;
        if let Some(name) = interface {
            // Before it is bound: at that moment it must not stand in the way of those without an interface. Linux lets
            // everybody do it since 5.7.
            socket.bind_device(Some(name.as_bytes()))?;
        }
        socket.bind(&address.into())?;
        Self::bound(socket.into())
    }

    /// Takes over a socket that is bound already (socket activation).
    pub fn from_socket(socket: StdSocket) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let address = socket.local_addr()?;
        prepare(&socket, address)?;
        Ok(Self { socket, address })
    }

    fn bound(socket: StdSocket) -> io::Result<Self> {
        let address = socket.local_addr()?;
        Ok(Self { socket, address })
    }

    /// The address bound, with its real port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on its packets are never cut, on this host or on the way.
    pub fn forbid_cutting(&self) -> io::Result<()> {
        syscall::forbid_cutting(self.socket.as_fd(), self.address.is_ipv6())?;
        // Those to clients of IPv4, too.
        let _ = syscall::forbid_cutting(self.socket.as_fd(), false);
        Ok(())
    }

    /// Datagrams that were thrown away because no room was left for them, since the socket was made; the count goes round
    /// at 2^32.
    pub fn drops(&self) -> io::Result<u32> {
        Ok(memory_of(self.socket.as_fd())?.drops)
    }

    /// Receives one datagram; `None` if none waits, or it does not fit the buffer: half a call is no call.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<Datagram>> {
        let arrival = match syscall::receive_datagram(self.socket.as_fd(), buffer) {
            Ok(arrival) => arrival,
            // ECONNREFUSED: an earlier reply met a closed port; it says nothing about the next datagram.
            Err(error) if is_nothing(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        let Some(client) = arrival.from.filter(|_| !arrival.is_cut) else { return Ok(None) };
        let server = arrival.to.unwrap_or(self.address.ip());
        let server = SocketAddr::new(server, self.address.port());
        let ends = Ends { client: canonical(client), server: canonical(server) };
        Ok(Some(Datagram { length: arrival.length, ends }))
    }

    /// Answers a datagram from the address that it was sent to. One `sendmsg`, so that two workers' replies never mix.
    pub fn reply(&self, pieces: &[IoSlice<'_>], to: &Datagram) -> io::Result<()> {
        let from = match (self.address, to.ends.server.ip()) {
            // Nobody can answer from an address of a group: the kernel chooses one.
            (_, server) if server.is_unspecified() || server.is_multicast() => None,
            (SocketAddr::V4(_), server) => Some(server),
            (SocketAddr::V6(_), server) => Some(to_ipv6(server).into()),
        };
        syscall::send_datagram(self.socket.as_fd(), pieces, self.spelled_for_us(to.ends.client), from)
    }

    /// An IPv4 client of an IPv6 socket, as that socket spells it.
    fn spelled_for_us(&self, client: SocketAddr) -> SocketAddr {
        match self.address {
            SocketAddr::V6(_) if client.is_ipv4() => {
                SocketAddr::new(to_ipv6(client.ip()).into(), client.port())
            }
            _ => client,
        }
    }
}

/// A socket for this address, prepared before it is bound: datagrams come from that moment on.
fn unbound(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM.nonblocking(), Some(Protocol::UDP))?;
    if address.is_ipv6() {
        socket.set_only_v6(!address.ip().is_unspecified())?;
    }
    prepare(&socket, address)?;
    Ok(socket)
}

/// Has a socket report of every datagram to which address it was sent, and gives it room.
fn prepare(socket: &impl AsFd, address: SocketAddr) -> io::Result<()> {
    match address {
        SocketAddr::V4(_) => setsockopt(socket, Ipv4PacketInfo, &true)?,
        SocketAddr::V6(_) => setsockopt(socket, Ipv6RecvPacketInfo, &true)?,
    }
    // Without privilege the host's `net.core.rmem_max` and `wmem_max` bound it.
    if setsockopt(socket, RcvBufForce, &RECEIVE_ROOM).is_err() {
        let _ = socket2::SockRef::from(socket).set_recv_buffer_size(RECEIVE_ROOM);
    }
    if setsockopt(socket, SndBufForce, &SEND_ROOM).is_err() {
        let _ = socket2::SockRef::from(socket).set_send_buffer_size(SEND_ROOM);
    }
    Ok(())
}

impl AsFd for UdpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn to_ipv6(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    }
}

/// Whether a receive failed because there was nothing.
fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::ConnectionRefused)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::{Duration, Instant};

    use super::*;

    /// Sends a datagram to each of several addresses of this host and sees the answer come from that one.
    #[test]
    fn a_reply_leaves_from_the_address_that_was_asked() {
        for bound in ["0.0.0.0:0", "[::]:0"] {
            let server = UdpSocket::bind(bound.parse().expect("an address")).expect("binding any port");
            for asked in ["127.0.0.1", "127.0.0.2"] {
                let client = StdSocket::bind("127.0.0.1:0").expect("binding a client");
                let target = SocketAddr::new(asked.parse().expect("an address"), server.address().port());
                client.send_to(b"call", target).expect("sending");
                let mut buffer = [0; 16];
                let datagram = loop {
                    if let Some(datagram) = server.receive(&mut buffer).expect("receiving") {
                        break datagram;
                    }
                };
                assert_eq!((datagram.ends.server, &buffer[..datagram.length]), (target, &b"call"[..]));
                server.reply(&[IoSlice::new(b"re"), IoSlice::new(b"ply")], &datagram).expect("replying");
                let (length, from) = client.recv_from(&mut buffer).expect("an answer");
                assert_eq!((&buffer[..length], from), (&b"reply"[..], target));
            }
        }
    }

    #[test]
    fn a_datagram_too_long_is_dropped_and_the_next_one_received() {
        let server = UdpSocket::bind("127.0.0.1:0".parse().expect("an address")).expect("binding any port");
        let client = StdSocket::bind("127.0.0.1:0").expect("binding a client");
        for call in [&b"seventeen letters"[..], b"sixteen letters.", b""] {
            client.send_to(call, server.address()).expect("sending");
        }
        let mut buffer = [0; 16];
        assert_eq!(receive_at(std::slice::from_ref(&server), &mut buffer).1.length, 16, "one that fits");
        assert_eq!(receive_at(std::slice::from_ref(&server), &mut buffer).1.length, 0, "an empty one");
    }

    /// Waits for a datagram at one of several sockets; which one.
    fn receive_at(sockets: &[UdpSocket], buffer: &mut [u8]) -> (usize, Datagram) {
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            for (index, socket) in sockets.iter().enumerate() {
                if let Some(datagram) = socket.receive(buffer).expect("receiving") {
                    return (index, datagram);
                }
            }
            assert!(Instant::now() < deadline, "nothing arrives");
            std::thread::yield_now();
        }
    }

    #[test]
    fn sockets_share_an_address_with_each_other_and_with_no_other_server() {
        const SOCKETS: usize = 4;
        for address in ["127.0.0.1:0", "[::]:0"] {
            let first = UdpSocket::bind(address.parse().expect("an address")).expect("binding any port");
            let address = first.address();
            UdpSocket::bind_beside(address, None).expect_err("not shared yet");
            first.share().expect("shared");
            let mut group = vec![first];
            group.extend((1..SOCKETS).map(|_| UdpSocket::bind_beside(address, None).expect("another")));
            let taken = UdpSocket::bind(address).expect_err("somebody serves there");
            assert_eq!(taken.kind(), io::ErrorKind::AddrInUse);

            let to = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), address.port());
            let mut met = [0; SOCKETS];
            let mut buffer = [0; 16];
            for _ in 0..64 {
                let client = StdSocket::bind("127.0.0.1:0").expect("binding a client");
                let from = [0; 3].map(|_| {
                    client.send_to(b"call", to).expect("sending");
                    let (index, datagram) = receive_at(&group, &mut buffer);
                    group[index].reply(&[IoSlice::new(b"reply")], &datagram).expect("replying");
                    let (length, from) = client.recv_from(&mut buffer).expect("an answer");
                    assert_eq!((&buffer[..length], from), (&b"reply"[..], to));
                    index
                });
                assert_eq!(from, [from[0]; 3], "one peer, one socket");
                met[from[0]] += 1;
            }
            // That one of four is met by none of 64 comes once in 10^7 times.
            assert!(met.iter().all(|&peers| peers > 0), "{met:?}");
        }
    }

    #[test]
    fn what_finds_no_room_is_counted() {
        let server = UdpSocket::bind("127.0.0.1:0".parse().expect("an address")).expect("binding any port");
        socket2::SockRef::from(&server.socket).set_recv_buffer_size(4 << 10).expect("little room");
        let client = StdSocket::bind("127.0.0.1:0").expect("binding a client");
        const SENT: u32 = 100;
        for _ in 0..SENT {
            client.send_to(&[0; 1000], server.address()).expect("sending");
        }
        let (mut received, deadline) = (0, std::time::Instant::now() + Duration::from_secs(10));
        // What was sent arrives in its own time.
        while received + server.drops().expect("a count") < SENT {
            received += u32::from(server.receive(&mut [0; 1000]).expect("receiving").is_some());
            assert!(std::time::Instant::now() < deadline, "{received} came");
        }
        assert!(received < SENT);
        assert_eq!(server.drops().expect("a count"), SENT - received);
    }
}
