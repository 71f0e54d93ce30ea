//! Where packets wait for a line: what a queue takes, and what it drops.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::time::Instant;

use crate::Packet;

/// The packets that wait for a line, and the rule by which some are dropped.
pub trait Queue<B>: Debug + Send {
    /// A packet wants to wait; given back if there is no room.
    fn offer(&mut self, now: Instant, packet: Packet<B>) -> Result<(), Packet<B>>;

    /// The line is free: who is next. What the queue drops on that occasion goes to `dropped`.
    fn take(&mut self, now: Instant, dropped: &mut dyn FnMut(Packet<B>)) -> Option<Packet<B>>;
}

/// First come, first served; whoever finds it full is dropped.
#[derive(Debug)]
pub struct DropTail<B> {
    most_bytes: usize,
    most_packets: usize,
    bytes: usize,
    waiting: VecDeque<Packet<B>>,
}

impl<B> DropTail<B> {
    /// Room for so many bytes.
    pub fn bytes(most: usize) -> Self {
        Self { most_bytes: most, most_packets: usize::MAX, bytes: 0, waiting: VecDeque::new() }
    }

    /// Room for so many packets.
    pub fn packets(most: usize) -> Self {
        Self { most_bytes: usize::MAX, most_packets: most, bytes: 0, waiting: VecDeque::new() }
    }
}

impl<B: Debug + Send> Queue<B> for DropTail<B> {
    fn offer(&mut self, _: Instant, packet: Packet<B>) -> Result<(), Packet<B>> {
        let bytes = self.bytes.saturating_add(packet.bytes);
        if bytes > self.most_bytes || self.waiting.len() >= self.most_packets {
            return Err(packet);
        }
        self.bytes = bytes;
        self.waiting.push_back(packet);
        Ok(())
    }

    fn take(&mut self, _: Instant, _: &mut dyn FnMut(Packet<B>)) -> Option<Packet<B>> {
        let packet = self.waiting.pop_front()?;
        self.bytes -= packet.bytes;
        Some(packet)
    }
}
