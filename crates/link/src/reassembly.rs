//! A receiver that puts datagrams together. Incomplete ones take memory until they are given up; while that memory is
//! full, no datagram that came in fragments is put together, whole packets pass.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::due::take_due;
use crate::{Counters, Element, Packet};

/// Linux: `net.ipv4.ipfrag_high_thresh`.
const MEMORY: usize = 4 << 20;
/// Linux: `net.ipv4.ipfrag_time`.
const PATIENCE: Duration = Duration::from_secs(30);
/// What the kernel counts for a fragment of a usual frame beside its bytes (its `truesize`).
const FRAGMENT_OVERHEAD: usize = 768;

/// The end of a path on which datagrams travel in fragments.
#[derive(Debug)]
pub struct Reassembly<B> {
    memory: usize,
    patience: Duration,
    used: usize,
    /// What is incomplete: until when it is kept, and the memory it takes.
    incomplete: VecDeque<(Instant, usize)>,
    complete: VecDeque<(Instant, Packet<B>)>,
    counters: Counters,
}

impl<B> Reassembly<B> {
    /// As Linux does by default.
    pub fn linux() -> Self {
        Self::new(MEMORY, PATIENCE)
    }

    /// With so much memory for datagrams that are incomplete, each kept so long.
    pub fn new(memory: usize, patience: Duration) -> Self {
        Self {
            memory,
            patience,
            used: 0,
            incomplete: VecDeque::new(),
            complete: VecDeque::new(),
            counters: Counters::default(),
        }
    }

    /// Is its memory full at the moment?
    pub fn is_full(&self) -> bool {
        self.used > self.memory
    }

    fn give_up(&mut self, now: Instant) {
        while let Some((_, bytes)) = take_due(&mut self.incomplete, now) {
            self.used -= bytes;
        }
    }

    fn hold(&mut self, now: Instant, packet: &Packet<B>) {
        let present = (packet.fragments - packet.missing) as usize;
        let bytes = packet.bytes / packet.fragments as usize * present + FRAGMENT_OVERHEAD * present;
        self.used += bytes;
        self.incomplete.push_back((now + self.patience, bytes));
    }
}

impl<B: std::fmt::Debug + Send> Element<B> for Reassembly<B> {
    fn push(&mut self, now: Instant, packet: Packet<B>) {
        self.counters.arrived.count(&packet);
        self.give_up(now);
        let full = packet.fragments > 1 && self.is_full();
        if packet.missing == 0 && !full {
            return self.complete.push_back((now, packet));
        }
        self.counters.dropped.count(&packet);
        if !full && packet.missing < packet.fragments {
            self.hold(now, &packet);
        }
    }

    fn poll(&mut self, _: Instant) -> Option<(Instant, Packet<B>)> {
        let (at, packet) = self.complete.pop_front()?;
        self.counters.left.count(&packet);
        Some((at, packet))
    }

    fn next_event(&self) -> Option<Instant> {
        self.complete.front().map(|(at, _)| *at)
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn name(&self) -> &'static str {
        "reassembly"
    }
}
