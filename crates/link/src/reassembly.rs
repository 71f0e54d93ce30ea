//! A receiver that puts datagrams together. Incomplete ones take memory until they are given up; while that memory is
//! full, no datagram that came in fragments is put together, whole packets pass.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::at_once::{AtOnce, Rule};
use crate::due::take_due;
use crate::{Counters, Packet};

/// Linux: `net.ipv4.ipfrag_high_thresh`.
const MEMORY: usize = 4 << 20;
/// Linux: `net.ipv4.ipfrag_time`.
const PATIENCE: Duration = Duration::from_secs(30);
/// What the kernel counts for a fragment of a usual frame beside its bytes (its `truesize`).
const FRAGMENT_OVERHEAD: usize = 768;

/// The end of a path on which datagrams travel in fragments.
#[derive(Debug)]
pub struct Reassembly {
    memory: usize,
    patience: Duration,
    used: usize,
    /// What is incomplete: until when it is kept, and the memory it takes.
    incomplete: VecDeque<(Instant, usize)>,
}

impl Reassembly {
    /// As Linux does by default.
    pub fn linux<B>() -> AtOnce<B, Self> {
        Self::new(MEMORY, PATIENCE)
    }

    /// With so much memory for datagrams that are incomplete, each kept so long.
    pub fn new<B>(memory: usize, patience: Duration) -> AtOnce<B, Self> {
        AtOnce::by(Self { memory, patience, used: 0, incomplete: VecDeque::new() })
    }

    fn is_full(&self) -> bool {
        self.used > self.memory
    }

    fn give_up(&mut self, now: Instant) {
        while let Some((_, bytes)) = take_due(&mut self.incomplete, now) {
            self.used -= bytes;
        }
    }

    fn hold<B>(&mut self, now: Instant, packet: &Packet<B>) {
        let present = (packet.fragments - packet.missing) as usize;
        let bytes = packet.bytes / packet.fragments as usize * present + FRAGMENT_OVERHEAD * present;
        self.used += bytes;
        self.incomplete.push_back((now + self.patience, bytes));
    }
}

impl<B> Rule<B> for Reassembly {
    const NAME: &'static str = "reassembly";

    fn meet(
        &mut self,
        now: Instant,
        packet: Packet<B>,
        counters: &mut Counters,
        mut pass: impl FnMut(Packet<B>),
    ) {
        self.give_up(now);
        let full = packet.fragments > 1 && self.is_full();
        if packet.missing == 0 && !full {
            return pass(packet);
        }
        counters.dropped.count(&packet);
        if !full && packet.missing < packet.fragments {
            self.hold(now, &packet);
        }
    }
}
