//! A server that answers each call after a time of its own choice, and not at all while it is down.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::ops::Range;
use std::time::{Duration, Instant};

use howdah_link::Random;

use super::Message;

/// What a call finds that is made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeats {
    /// The same chance of being slow as the first one.
    Anew,
    /// In memory what the first one fetches from the disk, at once.
    Quick,
    /// It waits for what the first one still waits for.
    Waiting,
}

/// Answers come after `usual`, or once in a while after `rare`.
#[derive(Debug)]
pub struct Server {
    /// How long a call takes as a rule.
    pub usual: Duration,
    /// How long a slow one takes at least.
    pub rare: Duration,
    /// And up to how much longer, evenly spread.
    pub rare_spread: Duration,
    /// What part of the calls is slow.
    pub rarely: f64,
    /// What a call finds that is made again.
    pub repeats: Repeats,
    /// When it is down, from and to.
    pub down: Range<Duration>,
    random: Random,
    /// When what each call asks for is, or was, there.
    seen: HashMap<u32, Instant>,
    running: BinaryHeap<Reverse<(Instant, Message)>>,
}

impl Server {
    /// One that is never slow.
    pub fn quick(usual: Duration) -> Self {
        Self {
            usual,
            rare: usual,
            rare_spread: Duration::ZERO,
            rarely: 0.0,
            repeats: Repeats::Anew,
            down: Duration::MAX..Duration::MAX,
            random: Random::new(2003),
            seen: HashMap::new(),
            running: BinaryHeap::new(),
        }
    }

    /// The same with other chances.
    #[must_use]
    pub fn seeded(mut self, seed: u64) -> Self {
        self.random = Random::new(seed);
        self
    }

    /// A call comes in.
    pub fn call(&mut self, start: Instant, now: Instant, message: Message) {
        if self.down.contains(&(now - start)) {
            return;
        }
        let before = self.seen.get(&message.xid).copied();
        let slow = self.random.chance(self.rarely);
        let at = match (before, self.repeats) {
            (Some(_), Repeats::Quick) => now + self.usual,
            (Some(there), Repeats::Waiting) => there.max(now + self.usual),
            _ if slow => now + self.slow(),
            _ => now + self.usual,
        };
        self.seen.entry(message.xid).or_insert(at);
        self.running.push(Reverse((at, message)));
    }

    fn slow(&mut self) -> Duration {
        match self.rare_spread {
            Duration::ZERO => self.rare,
            spread => self.rare + spread.mul_f64(self.random.fraction()),
        }
    }

    /// A reply that is ready, and since when.
    pub fn reply(&mut self, now: Instant) -> Option<(Instant, Message)> {
        self.next_event().filter(|at| *at <= now)?;
        self.running.pop().map(|Reverse(entry)| entry)
    }

    /// When the next reply is ready.
    pub fn next_event(&self) -> Option<Instant> {
        self.running.peek().map(|Reverse((at, _))| *at)
    }
}
