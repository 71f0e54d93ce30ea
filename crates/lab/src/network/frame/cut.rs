//! Cuts a packet that stands for several segments in two, between segments, as a network that loses one of them would make
//! them arrive: each part is again what the kernel itself could have sent.

use bytes::BytesMut;

use super::bytes::{get16, get32, put16, put32};
use super::checksum::{pseudo_header, sum};
use super::frame::Frame;
use super::layout::{Layout, TCP, UDP};
use super::offload;

/// Flags of TCP, in the 14th byte of its header (RFC 9293, RFC 3168).
const FLAGS: usize = 13;
const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const CWR: u8 = 0x80;

impl Frame {
    /// Cuts off the first `segments` of its segments; the rest stays here. It must have more of them.
    pub fn cut(&mut self, segments: u32) -> Self {
        let layout = Layout::of_segmented(&self.bytes).expect("the caller has asked for the segments");
        let size = offload::segment_size(&self.bytes);
        let bytes = segments as usize * size;
        let headers = offload::LENGTH + layout.payload;
        debug_assert!(segments > 0 && headers + bytes < self.bytes.len(), "a part would be empty");
        let mut first = if bytes >= headers && bytes * 2 <= self.bytes.len() {
            self.take_first(headers, bytes)
        } else {
            self.leave_rest(headers, bytes)
        };
        first.begin(&layout);
        self.go_on(&layout, segments, bytes);
        for part in [&mut first, self] {
            part.settle(&layout, size);
        }
        first
    }

    /// The first part in memory of its own; the rest stays where it is, with its headers over what was the first part's
    /// payload. For a first part that is short, but longer than the headers.
    fn take_first(&mut self, headers: usize, bytes: usize) -> Self {
        let first = BytesMut::from(&self.bytes[..headers + bytes]);
        self.bytes.copy_within(..headers, bytes);
        let _ = self.bytes.split_to(bytes);
        Self { bytes: first }
    }

    /// The rest in memory of its own; the first part stays where it is.
    fn leave_rest(&mut self, headers: usize, bytes: usize) -> Self {
        let mut rest = BytesMut::with_capacity(self.bytes.len() - bytes);
        rest.extend_from_slice(&self.bytes[..headers]);
        rest.extend_from_slice(&self.bytes[headers + bytes..]);
        let mut first = std::mem::replace(&mut self.bytes, rest);
        first.truncate(headers + bytes);
        Self { bytes: first }
    }

    /// It is not the last part any more.
    fn begin(&mut self, layout: &Layout) {
        if layout.protocol == TCP {
            self.bytes[offload::LENGTH + layout.transport + FLAGS] &= !(FIN | PSH);
        }
    }

    /// It is not the first part any more.
    fn go_on(&mut self, layout: &Layout, segments: u32, bytes: usize) {
        let packet = &mut self.bytes[offload::LENGTH..];
        if !layout.v6 {
            // Segments of one packet count on from its identification (RFC 6864 asks for no more than difference).
            let identification = get16(packet, 4).wrapping_add(segments as u16);
            put16(packet, 4, identification);
        }
        if layout.protocol == TCP {
            let sequence = get32(packet, layout.transport + 4).wrapping_add(bytes as u32);
            put32(packet, layout.transport + 4, sequence);
            packet[layout.transport + FLAGS] &= !CWR;
            offload::clear_ecn(&mut self.bytes);
        }
    }

    /// Lengths, and the checksums that follow from them.
    fn settle(&mut self, layout: &Layout, size: usize) {
        let packet = &mut self.bytes[offload::LENGTH..];
        let length = packet.len();
        let transport = length - layout.transport;
        match layout.v6 {
            true => put16(packet, 4, (length - IP6_HEADER) as u16),
            false => {
                put16(packet, 2, length as u16);
                put16(packet, IP4_CHECKSUM, 0);
                let checksum = !sum(&packet[..layout.transport], 0);
                put16(packet, IP4_CHECKSUM, checksum);
            }
        }
        if layout.protocol == UDP {
            put16(packet, layout.transport + 4, transport as u16);
        }
        if let Some(field) = layout.checksum() {
            // The sum of the payload is still left to the next to take the packet.
            let pseudo = pseudo_header(layout.addresses(packet), transport, layout.protocol);
            put16(packet, field, pseudo);
        }
        offload::set_headers(&mut self.bytes, layout.payload);
        if length - layout.payload <= size {
            offload::set_whole(&mut self.bytes);
        }
    }
}

/// The length field of IPv6 counts from behind this header.
const IP6_HEADER: usize = 40;
/// Where an IPv4 header has its checksum.
const IP4_CHECKSUM: usize = 10;
