//! What is sent over the paths of these tests: packets whose every segment is known by its number.

use std::time::Duration;

use howdah_link::{Packet, Random, Segments};
use proptest::prelude::*;

/// Segments by their numbers, from `first` on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    pub first: u64,
    pub segments: u32,
    pub damaged: bool,
}

impl Segments for Body {
    fn split_first(&mut self, segments: u32) -> Self {
        assert!(segments > 0 && segments < self.segments, "cut {segments} off {self:?}");
        let first = Self { segments, ..self.clone() };
        self.first += u64::from(segments);
        self.segments -= segments;
        first
    }

    fn corrupt(&mut self, _: &mut Random) {
        assert_eq!(self.segments, 1, "damaged more than one");
        self.damaged = true;
    }
}

/// A packet to be sent: how long after the one before, in how many segments, and how large the full ones and the last
/// one are.
#[derive(Debug, Clone, Copy)]
pub struct Sent {
    pub gap: Duration,
    pub segments: u32,
    pub full: usize,
    pub last: usize,
}

impl Sent {
    /// A full frame of Ethernet.
    pub fn frame(gap: Duration) -> Self {
        Self { gap, segments: 1, full: 1538, last: 1538 }
    }

    /// A super-packet of full frames.
    pub fn super_packet(gap: Duration, segments: u32) -> Self {
        Self { segments, ..Self::frame(gap) }
    }

    pub fn bytes(self) -> usize {
        self.full * (self.segments as usize - 1) + self.last
    }

    pub fn packet(self, first: u64) -> Packet<Body> {
        let body = Body { first, segments: self.segments, damaged: false };
        let frame = if self.segments == 1 { self.last } else { self.full };
        Packet::of_segments(self.bytes(), self.segments, frame, body)
    }
}

/// Bytes of every segment, by its number.
pub fn sizes(load: &[Sent]) -> Vec<usize> {
    let of = |sent: &Sent| {
        let last = sent.last;
        std::iter::repeat_n(sent.full, sent.segments as usize - 1).chain([last]).collect::<Vec<_>>()
    };
    load.iter().flat_map(of).collect()
}

/// The same, each segment a packet of its own.
pub fn singly(load: &[Sent]) -> Vec<Sent> {
    let mut gaps = load.iter().flat_map(|sent| {
        std::iter::once(sent.gap).chain(std::iter::repeat_n(Duration::ZERO, sent.segments as usize - 1))
    });
    let one = |bytes| Sent { gap: gaps.next().expect("one each"), segments: 1, full: bytes, last: bytes };
    sizes(load).into_iter().map(one).collect()
}

/// Single packets and super-packets, in bursts and with gaps.
pub fn load() -> impl Strategy<Value = Vec<Sent>> {
    let gap = prop_oneof![Just(0u64), 0u64..2_000_000];
    let segments = prop_oneof![Just(1u32), 1u32..46];
    let sent = (gap, segments, 84usize..1538, 0.0..1.0).prop_map(|(gap, segments, full, last)| Sent {
        gap: Duration::from_nanos(gap),
        segments,
        full,
        last: 84 + ((full - 84) as f64 * last) as usize,
    });
    prop::collection::vec(sent, 1..60)
}
