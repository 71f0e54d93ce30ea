//! A server that answers each call after a time of its own choice, and not at all while it is down.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::time::{Duration, Instant};

use howdah_link::{Random, Segments};

/// A call or a reply on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Message {
    pub xid: u32,
    /// Bytes of the reply.
    pub reply: usize,
}

/// A datagram with all its fragments: nothing here cuts or damages it.
impl Segments for Message {
    fn split_first(&mut self, _: u32) -> Self {
        unreachable!("one segment")
    }

    fn corrupt(&mut self, _: &mut Random) {
        unreachable!("no path here damages")
    }
}

/// Answers come after `usual`, or once in a while after `rare`.
pub struct Server {
    pub usual: Duration,
    pub rare: Duration,
    pub rarely: f64,
    /// A call that is made again finds in memory what the first one fetched from the disk.
    pub repeats_are_quick: bool,
    /// When it is down, from and to.
    pub down: Range<Duration>,
    random: Random,
    seen: std::collections::HashSet<u32>,
    running: BinaryHeap<Reverse<(Instant, Message)>>,
}

impl Server {
    pub fn quick(usual: Duration) -> Self {
        Self {
            usual,
            rare: usual,
            rarely: 0.0,
            repeats_are_quick: false,
            down: Duration::MAX..Duration::MAX,
            random: Random::new(2003),
            seen: Default::default(),
            running: BinaryHeap::new(),
        }
    }

    pub fn call(&mut self, start: Instant, now: Instant, message: Message) {
        if self.down.contains(&(now - start)) {
            return;
        }
        let first = self.seen.insert(message.xid);
        let slow = self.random.chance(self.rarely) && (first || !self.repeats_are_quick);
        let time = if slow { self.rare } else { self.usual };
        self.running.push(Reverse((now + time, message)));
    }

    pub fn reply(&mut self, now: Instant) -> Option<(Instant, Message)> {
        self.next_event().filter(|at| *at <= now)?;
        self.running.pop().map(|Reverse(entry)| entry)
    }

    pub fn next_event(&self) -> Option<Instant> {
        self.running.peek().map(|Reverse((at, _))| *at)
    }
}
