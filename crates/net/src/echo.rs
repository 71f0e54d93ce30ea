//! Packets that come back: ICMP echo (RFC 792, RFC 4443 4.1), which must not be cut on their way.
//!
//! An ordinary user may send them where `net.ipv4.ping_group_range` says so, else it takes CAP_NET_RAW.

use std::io::{self, ErrorKind, Read};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, Socket, Type};

use crate::path_mtu::of_connected;
use crate::syscall;

/// A header of IPv4 without options, one of IPv6, and the one of ICMP.
const IPV4_HEADER: usize = 20;
const IPV6_HEADER: usize = 40;
const ICMP_HEADER: usize = 8;
/// Room for what waits while nobody looks.
const ROOM: usize = 4 << 20;
/// What is looked at of a packet that came back: the longest header of IPv4, and that of ICMP.
const HEAD: usize = 60 + ICMP_HEADER;

/// A way to have packets come back from a host.
#[derive(Debug)]
pub struct Echo {
    socket: Socket,
    is_ipv6: bool,
    /// The kernel neither fills in our checksum nor takes the header of IP off.
    is_raw: bool,
    identity: u16,
}

/// What a wait brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Echoed {
    /// The packet of that number came back.
    Came(u16),
    /// Somebody on the way said that a packet was too large for it.
    TooLarge,
    /// Nothing in this time.
    Nothing,
}

impl Echo {
    /// For packets to this host.
    ///
    /// # Errors
    /// Not allowed here.
    pub fn open(to: SocketAddr) -> io::Result<Self> {
        let (domain, protocol) = match to.is_ipv6() {
            true => (Domain::IPV6, Protocol::ICMPV6),
            false => (Domain::IPV4, Protocol::ICMPV4),
        };
        let (socket, is_raw) = match Socket::new(domain, Type::DGRAM, Some(protocol)) {
            Ok(socket) => (socket, false),
            Err(_) => (Socket::new(domain, Type::RAW, Some(protocol))?, true),
        };
        syscall::forbid_cutting(socket.as_fd(), to.is_ipv6())?;
        let _ = socket.set_recv_buffer_size(ROOM);
        socket.connect(&SocketAddr::new(to.ip(), 0).into())?;
        let identity = std::process::id() as u16;
        Ok(Self { socket, is_ipv6: to.is_ipv6(), is_raw, identity })
    }

    /// The shortest packet, header of IP included.
    pub fn shortest(&self) -> usize {
        ICMP_HEADER + if self.is_ipv6 { IPV6_HEADER } else { IPV4_HEADER }
    }

    /// The largest packet that goes there, as the kernel knows by now.
    pub fn path_mtu(&self) -> Option<usize> {
        of_connected(&self.socket)
    }

    /// Sends a packet of so many bytes, header of IP included.
    ///
    /// # Errors
    /// Our own interface takes none so large: `EMSGSIZE`, as [`Echoed::TooLarge`] from others.
    pub fn send(&self, number: u16, packet: usize) -> io::Result<()> {
        let length = packet.saturating_sub(self.shortest()) + ICMP_HEADER;
        let mut message = vec![0; length];
        message[0] = if self.is_ipv6 { 128 } else { 8 };
        message[4..6].copy_from_slice(&self.identity.to_be_bytes());
        message[6..8].copy_from_slice(&number.to_be_bytes());
        if self.is_raw && !self.is_ipv6 {
            let sum = checksum(&message);
            message[2..4].copy_from_slice(&sum.to_be_bytes());
        }
        self.socket.send(&message).map(|_| ())
    }

    /// Waits for one to come back.
    pub fn receive(&self, most: Duration) -> io::Result<Echoed> {
        let until = Instant::now() + most;
        loop {
            let left = until.saturating_duration_since(Instant::now()).max(Duration::from_micros(1));
            self.socket.set_read_timeout(Some(left))?;
            let mut head = [0; HEAD];
            let answer = match (&self.socket).read(&mut head) {
                Ok(length) => self.answer(&head[..length]),
                Err(error) if is_too_large(&error) => return Ok(Echoed::TooLarge),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => None,
                Err(error) => return Err(error),
            };
            match answer {
                Some(number) => return Ok(Echoed::Came(number)),
                None if Instant::now() >= until => return Ok(Echoed::Nothing),
                None => {}
            }
        }
    }

    /// The number of one of ours that came back; anything else may come too.
    fn answer(&self, packet: &[u8]) -> Option<u16> {
        let header = match self.is_raw && !self.is_ipv6 {
            true => usize::from(packet.first()? & 0xf) * 4,
            false => 0,
        };
        let message = packet.get(header..header + ICMP_HEADER)?;
        let is_answer = message[0] == if self.is_ipv6 { 129 } else { 0 };
        // Where the socket is not raw, the kernel has put a number of its own there, and lets nobody else's through.
        let is_ours = !self.is_raw || message[4..6] == self.identity.to_be_bytes();
        (is_answer && is_ours).then(|| u16::from_be_bytes([message[6], message[7]]))
    }
}

/// Whether an error says that a packet was larger than something on the way takes.
pub fn is_too_large(error: &io::Error) -> bool {
    error.raw_os_error() == Some(nix::libc::EMSGSIZE)
}

/// The sum of RFC 1071.
fn checksum(bytes: &[u8]) -> u16 {
    let word = |pair: &[u8]| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |low| u32::from(*low));
    let mut sum: u32 = bytes.chunks(2).map(word).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_that_of_the_rfc() {
        // RFC 1071 3: the sum of these is ddf2, and it is complemented.
        assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
        assert_eq!(checksum(&[1]), !0x0100);
    }

    #[test]
    fn packets_come_back_where_they_may_be_sent() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            // Not allowed here, or no such protocol.
            let Ok(echo) = Echo::open(address.parse().expect("an address")) else { continue };
            for (number, length) in [(7, 1500), (8, echo.shortest())] {
                echo.send(number, length).expect("sent");
                assert_eq!(echo.receive(Duration::from_secs(10)).expect("open"), Echoed::Came(number));
            }
        }
    }
}
