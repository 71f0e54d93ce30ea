//! What travels on a path: a body that no element looks into, and what elements must know of it.

use crate::Segments;

/// A packet; or several that travel together: a super-packet of many segments, or a datagram with all its fragments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet<B> {
    /// Bytes on the wire, with all headers of all frames.
    pub bytes: usize,
    /// How many segments it stands for, each a packet of its own on a real wire; 1: it is no super-packet.
    pub segments: u32,
    /// Bytes on the wire of each frame but the last, which may be shorter.
    pub frame_bytes: usize,
    /// How many fragments it travels in; 1: it is whole. They are lost together by all but
    /// [`FragmentLoss`](crate::FragmentLoss).
    pub fragments: u32,
    /// How many of them were lost so far. A receiver cannot put such a datagram together.
    pub missing: u32,
    /// Whatever it carries.
    pub body: B,
}

impl<B> Packet<B> {
    /// A packet in one frame.
    pub fn whole(bytes: usize, body: B) -> Self {
        Self { bytes, segments: 1, frame_bytes: bytes, fragments: 1, missing: 0, body }
    }

    /// A super-packet: so many segments of `frame_bytes` each on the wire, the last one of what is left of `bytes`.
    pub fn of_segments(bytes: usize, segments: u32, frame_bytes: usize, body: B) -> Self {
        debug_assert!(segments > 0 && bytes > frame_bytes * (segments as usize - 1), "no segment is empty");
        Self { bytes, segments, frame_bytes, fragments: 1, missing: 0, body }
    }

    /// Bytes on the wire of its last frame.
    pub fn last_frame_bytes(&self) -> usize {
        self.bytes - (self.segments.max(self.fragments) as usize - 1) * self.frame_bytes
    }
}

impl<B: Segments> Packet<B> {
    /// How many segments to cut off so that they have at most so many bytes, but one at least; `None`: nothing to cut.
    pub(crate) fn within(&self, most: usize) -> Option<u32> {
        if self.bytes <= most || self.segments == 1 {
            return None;
        }
        let segments = (most / self.frame_bytes).max(1);
        Some(u32::try_from(segments).map_or(self.segments - 1, |segments| segments.min(self.segments - 1)))
    }

    /// Cuts off the first segments, at least one and not all; what stays are those behind them.
    pub fn split_first(&mut self, segments: u32) -> Self {
        debug_assert!(segments > 0 && segments < self.segments, "nothing to cut");
        let bytes = self.frame_bytes * segments as usize;
        self.bytes -= bytes;
        self.segments -= segments;
        let first = Self::of_segments(bytes, segments, self.frame_bytes, self.body.split_first(segments));
        if self.segments == 1 {
            self.frame_bytes = self.bytes;
        }
        first
    }
}
