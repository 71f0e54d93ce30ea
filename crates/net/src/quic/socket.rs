//! The UDP socket below: it takes and gives many datagrams in one call, as far as the host has segmentation for UDP.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use bytes::BytesMut;
use nix::cmsg_space;
use nix::errno::Errno;
use nix::libc;
use nix::sys::socket::sockopt::UdpGroSegment;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, MultiHeaders, RecvMsg, SockaddrStorage, recvmmsg, sendmsg,
    setsockopt,
};

use crate::sample::memory_of;
use crate::udp::UdpSocket;

/// Datagrams, or trains of them, that are received in one call.
const BATCH: usize = 16;
/// The longest train: that of the longest datagram (`UDP_GRO`).
const TRAIN: usize = 64 << 10;
/// The most datagrams that are sent in one call: what fits 64 KiB at 1,500 bytes.
const SEGMENTS: usize = 40;

/// Memory to receive into.
pub(super) struct Batch(Vec<u8>);

/// A socket.
pub(super) struct QuicSocket {
    socket: UdpSocket,
    /// How many datagrams may be sent in one call.
    segments: usize,
    /// The last send failed as if there was no way to the peer.
    has_no_way: bool,
}

/// What the kernel says of a UDP socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QuicSocketFacts {
    /// Bytes of memory for what was received and not taken yet.
    pub receive_buffer: u64,
    /// Datagrams that were thrown away for want of it.
    pub drops: u32,
    /// Datagrams that one call sends.
    pub segments: usize,
}

/// What came of sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SendOutcome {
    /// It went, or is lost as any datagram may be.
    Gone,
    /// The socket takes no more now.
    Full,
    /// It went, after nothing went for a while: another way may lead there.
    WayFound,
}

impl Batch {
    pub(super) fn new() -> Self {
        Self(vec![0; BATCH * TRAIN])
    }
}

impl QuicSocket {
    pub(super) fn new(socket: UdpSocket) -> Self {
        // Without either, datagrams go one by one.
        let _ = setsockopt(&socket.as_fd(), UdpGroSegment, &true);
        let _ = socket.forbid_cutting();
        Self { socket, segments: SEGMENTS, has_no_way: false }
    }

    /// Receives what waits, up to a batch: gives each datagram with its peer, and the address of ours that it was sent to. Says whether there may be more.
    pub(super) fn receive(
        &self,
        batch: &mut Batch,
        mut take: impl FnMut(SocketAddr, Option<IpAddr>, BytesMut),
    ) -> io::Result<bool> {
        let mut places: Vec<[IoSliceMut<'_>; 1]> =
            batch.0.chunks_mut(TRAIN).map(|place| [IoSliceMut::new(place)]).collect();
        // New ones each time: the kernel writes into them how long what it told was, which is all that it would tell the next time.
        let room = cmsg_space!(libc::in6_pktinfo, libc::in_pktinfo, libc::c_int);
        let mut headers = MultiHeaders::<SockaddrStorage>::preallocate(BATCH, Some(room));
        let descriptor = self.socket.as_fd().as_raw_fd();
        let received =
            match recvmmsg(descriptor, &mut headers, places.iter_mut(), MsgFlags::MSG_DONTWAIT, None) {
                Ok(received) => received,
                Err(Errno::EAGAIN) => return Ok(false),
                // What an earlier datagram met says nothing of the next one.
                Err(Errno::EINTR | Errno::ECONNREFUSED | Errno::EHOSTUNREACH | Errno::ENETUNREACH) => {
                    return Ok(true);
                }
                Err(error) => return Err(error.into()),
            };
        let mut count = 0;
        for message in received {
            count += 1;
            let Some(from) = message.address.as_ref().and_then(address) else { continue };
            let (to, length) = told(&message);
            for bytes in message.iovs() {
                // Each in memory of its own: one that is kept does not keep the others of its train.
                for datagram in bytes.chunks(length.unwrap_or(bytes.len()).max(1)) {
                    take(from, to, BytesMut::from(datagram));
                }
            }
        }
        Ok(count == BATCH)
    }

    /// Sends datagrams of `segment` bytes each, the last of which may be shorter, from that address of ours.
    pub(super) fn send(
        &mut self,
        bytes: &[u8],
        segment: Option<usize>,
        to: SocketAddr,
        from: Option<IpAddr>,
    ) -> io::Result<SendOutcome> {
        match self.send_once(bytes, segment, to, from) {
            Ok(_) if std::mem::take(&mut self.has_no_way) => Ok(SendOutcome::WayFound),
            Ok(_) => Ok(SendOutcome::Gone),
            Err(Errno::EAGAIN | Errno::ENOBUFS | Errno::EINTR) => Ok(SendOutcome::Full),
            Err(Errno::EIO | Errno::EINVAL) if segment.is_some() && self.segments > 1 => {
                // Some drivers cannot cut them.
                tracing::debug!("datagrams are sent one by one: this host does not segment them");
                self.segments = 1;
                self.send_one_by_one(bytes, segment, to, from)
            }
            Err(Errno::EMSGSIZE) => Ok(SendOutcome::Gone),
            Err(error) => {
                tracing::trace!(%to, %error, "sending");
                self.has_no_way = true;
                Ok(SendOutcome::Gone)
            }
        }
    }

    fn send_one_by_one(
        &mut self,
        bytes: &[u8],
        segment: Option<usize>,
        to: SocketAddr,
        from: Option<IpAddr>,
    ) -> io::Result<SendOutcome> {
        for one in bytes.chunks(segment.unwrap_or(bytes.len()).max(1)) {
            // What the socket does not take is lost, as any datagram may be: this comes once.
            let _ = self.send_once(one, None, to, from);
        }
        Ok(SendOutcome::Gone)
    }

    fn send_once(
        &self,
        bytes: &[u8],
        segment: Option<usize>,
        to: SocketAddr,
        from: Option<IpAddr>,
    ) -> Result<usize, Errno> {
        let (mut messages, segment) = (Vec::new(), segment.and_then(|length| u16::try_from(length).ok()));
        let (v4, v6) = (from.and_then(source_v4), from.and_then(source_v6));
        messages.extend(segment.as_ref().map(ControlMessage::UdpGsoSegments));
        messages.extend(v4.as_ref().map(ControlMessage::Ipv4PacketInfo));
        messages.extend(v6.as_ref().map(ControlMessage::Ipv6PacketInfo));
        let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
        let descriptor = self.socket.as_fd().as_raw_fd();
        sendmsg(descriptor, &[IoSlice::new(bytes)], &messages, flags, Some(&SockaddrStorage::from(to)))
    }

    /// How many datagrams one call sends.
    pub(super) fn segments(&self) -> usize {
        self.segments
    }

    pub(super) fn facts(&self) -> QuicSocketFacts {
        let memory = memory_of(self.socket.as_fd()).ok();
        QuicSocketFacts {
            receive_buffer: memory.as_ref().map_or(0, |memory| u64::from(memory.receive_buffer_bytes)),
            drops: memory.map_or(0, |memory| memory.drops),
            segments: self.segments,
        }
    }
}

impl AsFd for QuicSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn address(name: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = || name.as_sockaddr_in().map(|v4| SocketAddr::V4((*v4).into()));
    name.as_sockaddr_in6().map(|v6| SocketAddr::V6((*v6).into())).or_else(v4)
}

/// To which address of ours a train was sent, and how long each datagram of it is.
fn told(message: &RecvMsg<'_, '_, SockaddrStorage>) -> (Option<IpAddr>, Option<usize>) {
    let (mut to, mut length) = (None, None);
    for told in message.cmsgs().into_iter().flatten() {
        match told {
            ControlMessageOwned::Ipv4PacketInfo(info) => {
                to = Some(Ipv4Addr::from(info.ipi_spec_dst.s_addr.to_ne_bytes()).into());
            }
            ControlMessageOwned::Ipv6PacketInfo(info) => {
                to = Some(Ipv6Addr::from(info.ipi6_addr.s6_addr).into())
            }
            ControlMessageOwned::UdpGroSegments(bytes) => {
                length = usize::try_from(bytes).ok().filter(|&bytes| bytes > 0)
            }
            _ => {}
        }
    }
    (to, length)
}

fn source_v4(from: IpAddr) -> Option<libc::in_pktinfo> {
    let IpAddr::V4(from) = from else { return None };
    let ipi_spec_dst = libc::in_addr { s_addr: u32::from_ne_bytes(from.octets()) };
    Some(libc::in_pktinfo { ipi_ifindex: 0, ipi_spec_dst, ipi_addr: libc::in_addr { s_addr: 0 } })
}

fn source_v6(from: IpAddr) -> Option<libc::in6_pktinfo> {
    let IpAddr::V6(from) = from else { return None };
    Some(libc::in6_pktinfo { ipi6_addr: libc::in6_addr { s6_addr: from.octets() }, ipi6_ifindex: 0 })
}
