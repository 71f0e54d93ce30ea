//! Where the headers of a packet are: found once, so that code that changes one need not look for it.

use super::bytes::get16;
use super::offload::{self, Segmentation};

/// Protocols, as the IP header numbers them.
pub const TCP: u8 = 6;
/// See [`TCP`].
pub const UDP: u8 = 17;

/// The least that a header of each kind takes (RFC 791, RFC 8200, RFC 9293, RFC 768).
const IP4_HEADER: usize = 20;
const IP6_HEADER: usize = 40;
const TCP_HEADER: usize = 20;
const UDP_HEADER: usize = 8;

/// The extension headers of IPv6 that may stand before the transport's and say how long they are (RFC 8200 section 4).
const EXTENSIONS: [u8; 3] = [0, 43, 60];

/// Where things are in a packet, from its first byte, which is that of its IP header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// It is IPv6.
    pub v6: bool,
    /// TCP, UDP, or another protocol's number.
    pub protocol: u8,
    /// Where the transport's header begins.
    pub transport: usize,
    /// Where the payload begins; behind an unknown transport's header this is not known, and is where that begins.
    pub payload: usize,
}

impl Layout {
    /// Of a packet; None if it has no headers that make sense, or is one of several fragments.
    pub fn of(packet: &[u8]) -> Option<Self> {
        let (v6, protocol, transport) = match packet.first()? >> 4 {
            4 => v4(packet)?,
            6 => v6(packet)?,
            _ => return None,
        };
        let header = match protocol {
            TCP => (usize::from(packet.get(transport + 12)? >> 4) * 4).max(TCP_HEADER),
            UDP => UDP_HEADER,
            _ => 0,
        };
        let payload = transport + header;
        (payload <= packet.len()).then_some(Self { v6, protocol, transport, payload })
    }

    /// Of a packet that stands for several segments, with the kernel's header before it.
    pub fn of_segmented(frame: &[u8]) -> Option<Self> {
        let protocol = match offload::segmentation(frame) {
            Segmentation::Tcp => TCP,
            Segmentation::Udp => UDP,
            Segmentation::None | Segmentation::Unknown => return None,
        };
        let layout = Self::of(&frame[offload::LENGTH..])?;
        (layout.protocol == protocol && offload::segment_size(frame) > 0).then_some(layout)
    }

    /// Source and destination.
    pub fn addresses<'p>(&self, packet: &'p [u8]) -> &'p [u8] {
        if self.v6 { &packet[8..40] } else { &packet[12..20] }
    }

    /// Where the transport's checksum is, if it has one.
    pub fn checksum(&self) -> Option<usize> {
        match self.protocol {
            TCP => Some(self.transport + 16),
            UDP => Some(self.transport + 6),
            _ => None,
        }
    }
}

fn v4(packet: &[u8]) -> Option<(bool, u8, usize)> {
    let length = usize::from(packet[0] & 15) * 4;
    if length < IP4_HEADER || length > packet.len() {
        return None;
    }
    // More fragments, or not the first one (RFC 791).
    let fragment = get16(packet, 6) & 0x3fff != 0;
    (!fragment).then_some((false, packet[9], length))
}

fn v6(packet: &[u8]) -> Option<(bool, u8, usize)> {
    let mut protocol = *packet.get(6)?;
    let mut at = IP6_HEADER;
    while EXTENSIONS.contains(&protocol) {
        protocol = *packet.get(at)?;
        at += (usize::from(*packet.get(at + 1)?) + 1) * 8;
    }
    // A fragment's header (44) is no transport that we know: its bytes are left alone.
    (at <= packet.len()).then_some((true, protocol, at))
}
