//! The header that the kernel puts before each packet (`struct virtio_net_hdr` of linux/virtio_net.h): what it left
//! undone. In the machine's order of bytes, as a TUN device has it.

/// Its length.
pub const LENGTH: usize = 10;

/// The checksum holds the sum of the pseudo header only (`VIRTIO_NET_HDR_F_NEEDS_CSUM`).
const NEEDS_CHECKSUM: u8 = 1;

const NOT_SEGMENTED: u8 = 0;
const TCP4: u8 = 1;
const TCP6: u8 = 4;
const UDP: u8 = 5;
/// Beside the kind: the first segment says that the window was reduced (`VIRTIO_NET_HDR_GSO_ECN`).
const ECN: u8 = 0x80;

/// Where fields are.
const FLAGS: usize = 0;
const KIND: usize = 1;
const HEADERS: usize = 2;
const SEGMENT: usize = 4;
const CHECKSUM_START: usize = 6;
const CHECKSUM_OFFSET: usize = 8;

/// How a packet must be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Segmentation {
    /// Not at all.
    None,
    /// As TCP.
    Tcp,
    /// As UDP: each segment is a datagram.
    Udp,
    /// In a way that this kernel was not offered.
    Unknown,
}

/// How this packet must be cut.
pub fn segmentation(frame: &[u8]) -> Segmentation {
    match frame[KIND] & !ECN {
        NOT_SEGMENTED => Segmentation::None,
        TCP4 | TCP6 => Segmentation::Tcp,
        UDP => Segmentation::Udp,
        _ => Segmentation::Unknown,
    }
}

/// Bytes of payload in each segment but the last.
pub fn segment_size(frame: &[u8]) -> usize {
    usize::from(get(frame, SEGMENT))
}

/// The packet is one segment from now on.
pub fn set_whole(frame: &mut [u8]) {
    frame[KIND] = NOT_SEGMENTED;
    set(frame, SEGMENT, 0);
}

/// So many bytes of the packet the kernel keeps in one piece: its headers. Of a packet that it forwards it writes more, up to the whole
/// packet, and takes none that is shorter than this.
pub fn set_headers(frame: &mut [u8], bytes: usize) {
    set(frame, HEADERS, bytes as u16);
}

/// Bytes that the kernel keeps in one piece.
#[cfg(test)]
pub fn headers(frame: &[u8]) -> usize {
    usize::from(get(frame, HEADERS))
}

/// No segment of this packet says any more that the window was reduced.
pub fn clear_ecn(frame: &mut [u8]) {
    frame[KIND] &= !ECN;
}

/// Where the bytes begin that a checksum must still be made of, and where it goes, both from the start of the packet;
/// None: it is there already.
pub fn missing_checksum(frame: &[u8]) -> Option<(usize, usize)> {
    let start = usize::from(get(frame, CHECKSUM_START));
    let field = start + usize::from(get(frame, CHECKSUM_OFFSET));
    (frame[FLAGS] & NEEDS_CHECKSUM != 0).then_some((start, field))
}

/// The receiver must check the packet itself.
pub fn set_unchecked(frame: &mut [u8]) {
    frame[FLAGS] = 0;
    set(frame, CHECKSUM_START, 0);
    set(frame, CHECKSUM_OFFSET, 0);
}

fn get(frame: &[u8], at: usize) -> u16 {
    u16::from_ne_bytes([frame[at], frame[at + 1]])
}

fn set(frame: &mut [u8], at: usize, value: u16) {
    frame[at..at + 2].copy_from_slice(&value.to_ne_bytes());
}

/// The header of a packet whose checksum is missing, as the kernel writes it.
#[cfg(test)]
pub fn header(
    segmentation: Segmentation,
    v6: bool,
    segment: usize,
    start: usize,
    offset: usize,
) -> [u8; LENGTH] {
    let mut header = [0; LENGTH];
    header[FLAGS] = NEEDS_CHECKSUM;
    header[KIND] = match (segmentation, v6) {
        (Segmentation::Tcp, false) => TCP4,
        (Segmentation::Tcp, true) => TCP6,
        (Segmentation::Udp, _) => UDP,
        _ => NOT_SEGMENTED,
    };
    set(&mut header, SEGMENT, segment as u16);
    set(&mut header, CHECKSUM_START, start as u16);
    set(&mut header, CHECKSUM_OFFSET, offset as u16);
    header
}
