//! Packets in a row, as many as there is room for.

use std::collections::VecDeque;
use std::time::Instant;

use crate::{Packet, Segments};

/// Who waits, since when, within bounds.
#[derive(Debug)]
pub struct QueuedPackets<B> {
    most_bytes: usize,
    most_packets: usize,
    bytes: usize,
    packets: usize,
    row: VecDeque<(Instant, Packet<B>)>,
}

impl<B: Segments> QueuedPackets<B> {
    pub fn new(most_bytes: usize, most_packets: usize) -> Self {
        Self { most_bytes, most_packets, bytes: 0, packets: 0, row: VecDeque::new() }
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Who is next, and since when it waits.
    pub fn first(&self) -> Option<&(Instant, Packet<B>)> {
        self.row.front()
    }

    /// Puts the segments that find room at the end, and gives back the others.
    pub fn add(&mut self, now: Instant, mut packet: Packet<B>) -> Option<Packet<B>> {
        let (bytes, packets) = (self.most_bytes - self.bytes, self.most_packets - self.packets);
        let segments = packet.segments as usize;
        if packet.bytes <= bytes && segments <= packets {
            self.push(now, packet);
            return None;
        }
        // Where not all of them fit, all that fit are full ones.
        let fit = packets.min(bytes / packet.frame_bytes.max(1)).min(segments - 1);
        if fit > 0 {
            let first = packet.split_first(fit as u32);
            self.push(now, first);
        }
        Some(packet)
    }

    fn push(&mut self, now: Instant, packet: Packet<B>) {
        self.bytes += packet.bytes;
        self.packets += packet.segments as usize;
        self.row.push_back((now, packet));
    }

    /// Takes the first packet; of a super-packet not more than so many bytes, but a segment at least.
    pub fn take(&mut self, most: usize) -> Option<Packet<B>> {
        let (_, first) = self.row.front_mut()?;
        let packet = match first.within(most) {
            Some(segments) => first.split_first(segments),
            None => self.row.pop_front()?.1,
        };
        self.bytes -= packet.bytes;
        self.packets -= packet.segments as usize;
        Some(packet)
    }
}
