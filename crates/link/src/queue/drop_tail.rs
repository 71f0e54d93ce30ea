//! First come, first served; a packet that finds the queue full is dropped.

use std::fmt::Debug;
use std::time::Instant;

use super::Queue;
use super::waiting::QueuedPackets;
use crate::{Packet, Segments};

/// A queue with room for so much. Of a super-packet the first segments may find room, and the others not.
#[derive(Debug)]
pub struct DropTail<B> {
    waiting: QueuedPackets<B>,
}

impl<B: Segments> DropTail<B> {
    /// Room for so many bytes.
    pub fn bytes(most: usize) -> Self {
        Self { waiting: QueuedPackets::new(most, usize::MAX) }
    }

    /// Room for so many packets.
    pub fn packets(most: usize) -> Self {
        Self { waiting: QueuedPackets::new(usize::MAX, most) }
    }
}

impl<B: Debug + Send + Segments> Queue<B> for DropTail<B> {
    fn offer(&mut self, now: Instant, packet: Packet<B>, dropped: &mut dyn FnMut(Packet<B>)) {
        if let Some(rest) = self.waiting.add(now, packet) {
            dropped(rest);
        }
    }

    fn take(&mut self, _: Instant, most: usize, _: &mut dyn FnMut(Packet<B>)) -> Option<Packet<B>> {
        self.waiting.take(most)
    }
}
