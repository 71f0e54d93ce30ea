//! Corrupts a packet so that its receiver notices, as a bad cable or memory would.

use super::bytes::put16;
use super::checksum::sum;
use super::frame::Frame;
use super::layout::{Layout, UDP};
use super::offload;

impl Frame {
    /// Turns one bit over, which follows from `chance`. The packet is checked by its receiver from now on, though the kernel
    /// that sent it may have left the checksum to us. It must stand for one segment.
    pub fn flip(&mut self, chance: u64) {
        self.complete_checksum();
        let packet = &mut self.bytes[offload::LENGTH..];
        // A bit behind the IP header: that one's checksum protects only itself, and IPv6 has none.
        let start = Layout::of(packet).map_or(0, |layout| layout.transport);
        let bits = (packet.len() - start) as u64 * 8;
        if bits > 0 {
            let bit = chance % bits;
            packet[start + (bit / 8) as usize] ^= 1 << (bit % 8);
        }
    }

    /// Makes the checksum that was left to the interface.
    pub fn complete_checksum(&mut self) {
        let missing = offload::missing_checksum(&self.bytes);
        offload::set_unchecked(&mut self.bytes);
        let packet = &mut self.bytes[offload::LENGTH..];
        let Some((start, field)) =
            missing.filter(|(start, field)| start <= field && field + 2 <= packet.len())
        else {
            return;
        };
        let udp = Layout::of(packet).is_some_and(|layout| layout.protocol == UDP);
        let checksum = match !sum(&packet[start..], 0) {
            // To UDP a zero means that there is no checksum (RFC 768).
            0 if udp => 0xffff,
            checksum => checksum,
        };
        put16(packet, field, checksum);
    }
}
