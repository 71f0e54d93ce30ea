//! A packet as the kernel gives it, and what it is on an Ethernet.

use bytes::BytesMut;
use howdah_link::{FRAME_OVERHEAD, Packet, Random, Segments};

use super::layout::Layout;
use super::offload;

/// An Ethernet frame carries at least as much; the rest is padding.
const ETHERNET_LEAST: usize = 46;

/// A packet with the kernel's header about offloads before it. Its memory goes back where it came from when it is dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub(super) bytes: BytesMut,
}

impl Frame {
    /// Of what was received from an interface, the kernel's header first.
    pub fn new(bytes: BytesMut) -> Self {
        debug_assert!(bytes.len() >= offload::LENGTH, "the kernel writes its header first");
        Self { bytes }
    }

    /// As the kernel takes it.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// As a path carries it: with the segments that it stands for, and the bytes that they take on an Ethernet, each with
    /// its own headers.
    pub fn into_packet(self) -> Packet<Self> {
        let packet = self.bytes.len() - offload::LENGTH;
        let Some(layout) = Layout::of_segmented(&self.bytes) else {
            return Packet::whole(on_ethernet(packet), self);
        };
        let payload = packet - layout.payload;
        let size = offload::segment_size(&self.bytes);
        let segments = payload.div_ceil(size).max(1);
        let full = on_ethernet(layout.payload + size);
        let last = on_ethernet(layout.payload + payload - (segments - 1) * size);
        Packet::of_segments((segments - 1) * full + last, segments as u32, full, self)
    }
}

/// Bytes that a packet takes there.
fn on_ethernet(packet: usize) -> usize {
    packet.max(ETHERNET_LEAST) + FRAME_OVERHEAD
}

impl Segments for Frame {
    fn split_first(&mut self, segments: u32) -> Self {
        self.cut(segments)
    }

    fn corrupt(&mut self, random: &mut Random) {
        self.flip(random.number());
    }
}
