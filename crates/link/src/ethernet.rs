//! What a datagram takes on an Ethernet: in how many fragments it travels, and how many bytes of line time that is.

use crate::Packet;

/// Preamble 8, header 14, checksum 4, gap 12 (IEEE 802.3): line time of every frame besides what it carries.
pub const FRAME_OVERHEAD: usize = 38;
/// A frame carries at least as much (IEEE 802.3, minimum frame size).
const FRAME_LEAST: usize = 46;
/// An IPv4 header without options (RFC 791).
const IP_HEADER: usize = 20;
/// A UDP header (RFC 768).
const UDP_HEADER: usize = 8;

/// An Ethernet with IPv4 on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ethernet {
    /// The most that a frame carries, IP header included.
    pub mtu: usize,
}

impl Ethernet {
    /// A UDP datagram with so many bytes of payload.
    pub fn datagram<B>(self, payload: usize, body: B) -> Packet<B> {
        let data = payload + UDP_HEADER;
        // Offsets of fragments count units of 8 bytes (RFC 791).
        let each = (self.mtu - IP_HEADER) & !7;
        let fragments = if data + IP_HEADER <= self.mtu { 1 } else { data.div_ceil(each) };
        let last = data - (fragments - 1) * each;
        let full = (fragments - 1) * (each + IP_HEADER + FRAME_OVERHEAD);
        let bytes = full + (last + IP_HEADER).max(FRAME_LEAST) + FRAME_OVERHEAD;
        let frame_bytes = if fragments == 1 { bytes } else { each + IP_HEADER + FRAME_OVERHEAD };
        Packet { bytes, segments: 1, frame_bytes, fragments: fragments as u32, missing: 0, body }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_takes_as_many_frames_as_it_must() {
        let ethernet = Ethernet { mtu: 1500 };
        for (payload, fragments, bytes) in [
            (0, 1, 84),
            (1472, 1, 1538),
            (1473, 2, 1538 + 84),
            (8192 + 128, 6, 5 * 1538 + 8 + 8192 + 128 - 5 * 1480 + 58),
            (32768 + 128, 23, 22 * 1538 + 8 + 32768 + 128 - 22 * 1480 + 58),
        ] {
            let packet = ethernet.datagram(payload, ());
            assert_eq!((packet.fragments, packet.bytes), (fragments, bytes), "{payload} bytes");
        }
    }
}
