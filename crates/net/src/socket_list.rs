//! All TCP sockets of a network namespace, as the kernel lists them (`NETLINK_SOCK_DIAG`, what `ss` asks).

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};

use nix::libc;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendto, socket,
};

use crate::tcp_info::{SocketMemory, TcpInfo};

/// Room for one answer: the kernel fills at most 32 KiB at once.
const ANSWER: usize = 64 << 10;
/// `struct nlmsghdr`.
const HEADER: usize = 16;
/// `struct inet_diag_req_v2`.
const REQUEST: usize = 56;
/// `struct inet_diag_msg`.
const MESSAGE: usize = 72;
/// `SOCK_DIAG_BY_FAMILY`.
const BY_FAMILY: u16 = 20;
/// Attributes of a socket (`INET_DIAG_*`).
const INFO: u16 = 2;
const CONGESTION: u16 = 4;
const MEMORY: u16 = 7;
/// `TCP_ESTABLISHED`, and all states in which data may still be on its way: both FIN_WAITs, CLOSE_WAIT, LAST_ACK, CLOSING.
const STATES: u32 = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11;

/// A connected TCP socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TcpSocket {
    /// Its own address.
    pub local: SocketAddr,
    /// The other side's.
    pub remote: SocketAddr,
    /// What the kernel reports of the connection.
    pub info: TcpInfo,
    /// What it holds.
    pub memory: Option<SocketMemory>,
    /// The name of its congestion control.
    pub congestion: Option<String>,
}

/// Asks for the sockets of the network namespace in which it was opened, on whatever thread.
#[derive(Debug)]
pub struct SocketList {
    netlink: OwnedFd,
    answer: Vec<u8>,
}

impl SocketList {
    /// Opens it in the calling thread's network namespace.
    pub fn open() -> io::Result<Self> {
        let netlink = socket(
            AddressFamily::Netlink,
            SockType::Datagram,
            SockFlag::SOCK_CLOEXEC,
            SockProtocol::NetlinkSockDiag,
        )?;
        Ok(Self { netlink, answer: vec![0; ANSWER] })
    }

    /// All connected TCP sockets of IPv4 and IPv6.
    pub fn tcp(&mut self) -> io::Result<Vec<TcpSocket>> {
        let mut sockets = Vec::new();
        for family in [libc::AF_INET, libc::AF_INET6] {
            self.ask(family as u8)?;
            while self.receive(&mut sockets)? {}
        }
        Ok(sockets)
    }

    fn ask(&self, family: u8) -> io::Result<()> {
        let mut request = [0; HEADER + REQUEST];
        request[0..4].copy_from_slice(&((HEADER + REQUEST) as u32).to_ne_bytes());
        request[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
        request[6..8].copy_from_slice(&((libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16).to_ne_bytes());
        let asked =
            [INFO, CONGESTION, MEMORY].iter().fold(0, |bits, attribute| bits | 1_u8 << (attribute - 1));
        request[HEADER..HEADER + 3].copy_from_slice(&[family, libc::IPPROTO_TCP as u8, asked]);
        request[HEADER + 4..HEADER + 8].copy_from_slice(&STATES.to_ne_bytes());
        sendto(self.netlink.as_raw_fd(), &request, &NetlinkAddr::new(0, 0), MsgFlags::empty())?;
        Ok(())
    }

    /// Takes one answer; false: it was the last.
    fn receive(&mut self, sockets: &mut Vec<TcpSocket>) -> io::Result<bool> {
        let received = recv(self.netlink.as_raw_fd(), &mut self.answer, MsgFlags::empty())?;
        let mut rest = &self.answer[..received];
        while let Some((kind, message, after)) = next_message(rest) {
            match i32::from(kind) {
                libc::NLMSG_DONE => return Ok(false),
                libc::NLMSG_ERROR => return Err(refused(message)),
                _ => sockets.extend(decode(message)),
            }
            rest = after;
        }
        Ok(true)
    }
}

fn refused(message: &[u8]) -> io::Error {
    let code = message.get(..4).and_then(|bytes| bytes.try_into().ok()).map_or(0, i32::from_ne_bytes);
    io::Error::from_raw_os_error(-code)
}

/// Type and body of the first netlink message, and what comes after it.
fn next_message(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let length = u32::from_ne_bytes(bytes.get(..4)?.try_into().ok()?) as usize;
    let kind = u16::from_ne_bytes(bytes.get(4..6)?.try_into().ok()?);
    let body = bytes.get(HEADER..length)?;
    Some((kind, body, bytes.get(aligned(length)..).unwrap_or_default()))
}

/// A socket from a `struct inet_diag_msg` and its attributes.
fn decode(message: &[u8]) -> Option<TcpSocket> {
    let family = i32::from(*message.first()?);
    let mut socket = TcpSocket {
        local: address(family, message.get(4..6)?, message.get(8..24)?)?,
        remote: address(family, message.get(6..8)?, message.get(24..40)?)?,
        info: TcpInfo::default(),
        memory: None,
        congestion: None,
    };
    let mut rest = message.get(MESSAGE..)?;
    while let Some((kind, value, after)) = next_attribute(rest) {
        match kind {
            INFO => socket.info = TcpInfo::decode(value),
            MEMORY => socket.memory = SocketMemory::decode(value),
            CONGESTION => socket.congestion = name(value),
            _ => {}
        }
        rest = after;
    }
    Some(socket)
}

fn address(family: i32, port: &[u8], address: &[u8]) -> Option<SocketAddr> {
    let port = u16::from_be_bytes(port.try_into().ok()?);
    let ip: IpAddr = if family == libc::AF_INET {
        Ipv4Addr::from(<[u8; 4]>::try_from(&address[..4]).ok()?).into()
    } else {
        Ipv6Addr::from(<[u8; 16]>::try_from(address).ok()?).into()
    };
    Some(SocketAddr::new(ip.to_canonical(), port))
}

/// Type and value of the first attribute (`struct rtattr`), and what comes after it.
fn next_attribute(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let length = usize::from(u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?));
    let kind = u16::from_ne_bytes(bytes.get(2..4)?.try_into().ok()?);
    let value = bytes.get(4..length)?;
    Some((kind, value, bytes.get(aligned(length)..).unwrap_or_default()))
}

/// Text that ends with a zero.
fn name(value: &[u8]) -> Option<String> {
    let text = value.split(|&byte| byte == 0).next()?;
    (!text.is_empty()).then(|| String::from_utf8_lossy(text).into_owned())
}

/// Messages and attributes begin at multiples of four (`NLMSG_ALIGN`, `RTA_ALIGN`).
fn aligned(length: usize) -> usize {
    length.next_multiple_of(4)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use nix::sys::socket::{getsockopt, sockopt};

    use super::*;

    #[test]
    fn both_ends_of_a_connection_are_found_with_what_passed() {
        for (listen, family) in [("127.0.0.1:0", 4), ("[::1]:0", 6)] {
            let Ok(listener) = TcpListener::bind(listen) else { continue };
            let mut near = TcpStream::connect(listener.local_addr().expect("bound")).expect("it listens");
            let (mut far, _) = listener.accept().expect("it connected");
            near.write_all(&[7; 10_000]).expect("there is room");
            far.read_exact(&mut [0; 10_000]).expect("all of it");
            let mut list = SocketList::open().expect("anybody may ask");
            let sockets = list.tcp().expect("listed");
            let of = |stream: &TcpStream| {
                let local = stream.local_addr().expect("connected");
                let remote = stream.peer_addr().expect("connected");
                let found = sockets.iter().find(|socket| (socket.local, socket.remote) == (local, remote));
                found.unwrap_or_else(|| panic!("IPv{family}: {local} is not listed")).clone()
            };
            let (sender, receiver) = (of(&near), of(&far));
            assert_eq!(sender.info.sent_bytes, Some(10_000), "IPv{family}");
            assert_eq!(receiver.info.received_bytes, Some(10_000), "IPv{family}");
            let buffer = getsockopt(&far, sockopt::RcvBuf).expect("asked");
            assert_eq!(
                receiver.memory.expect("an answer").receive_buffer_bytes as usize,
                buffer,
                "IPv{family}"
            );
            let congestion = getsockopt(&near, sockopt::TcpCongestion).expect("asked");
            assert_eq!(sender.congestion.as_deref(), congestion.to_str(), "IPv{family}");
        }
    }

    #[test]
    fn what_is_cut_off_is_not_read() {
        assert_eq!(next_message(&[20, 0]), None);
        assert_eq!(next_attribute(&[200, 0, 1, 0, 5]), None);
        assert_eq!(next_attribute(&[]), None);
        assert_eq!(decode(&[2; 60]), None);
    }
}
