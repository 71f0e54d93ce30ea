//! A server that answers each call after a time of its own choice, and not at all while it is down.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::ops::Range;
use std::time::{Duration, Instant};

use howdah_link::Random;

use super::SimulatedMessage;

/// Chances of a server if nobody says otherwise.
const SEED: u64 = 2003;

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
    /// So many calls in a row ask for what one access to the disk fetches (its read-ahead), and wait for it together.
    /// With [`Repeats::Waiting`].
    pub together: u32,
    /// How long such an access takes as a rule; `rare` are those that take longer. With [`Repeats::Waiting`].
    pub fetch: Duration,
    /// When it is down, from and to.
    pub down: Range<Duration>,
    seed: u64,
    random: Random,
    /// When what calls ask for is, or was, there, by what fetches it.
    seen: HashMap<u32, Instant>,
    disk_free: Option<Instant>,
    running: BinaryHeap<Reverse<(Instant, SimulatedMessage)>>,
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
            together: 1,
            fetch: Duration::ZERO,
            down: Duration::MAX..Duration::MAX,
            seed: SEED,
            random: Random::new(SEED),
            seen: HashMap::new(),
            disk_free: None,
            running: BinaryHeap::new(),
        }
    }

    /// The same with other chances.
    #[must_use]
    pub fn seeded(mut self, seed: u64) -> Self {
        (self.seed, self.random) = (seed, Random::new(seed));
        self
    }

    /// A call comes in.
    pub fn call(&mut self, start: Instant, now: Instant, message: SimulatedMessage) {
        if self.down.contains(&(now - start)) {
            return;
        }
        let fetch = message.xid / self.together;
        let before = self.seen.get(&fetch).copied();
        if self.repeats == Repeats::Waiting {
            // No matter which client asks, and in which order: the same fetches are slow.
            self.random = Random::new(Random::new(self.seed ^ u64::from(fetch)).number());
        }
        let slow = self.random.chance(self.rarely);
        let at = match (before, self.repeats) {
            (Some(_), Repeats::Quick) => now + self.usual,
            (Some(there), Repeats::Waiting) => there.max(now + self.usual),
            (None, Repeats::Waiting) => {
                // One disk, which does one thing after another.
                let time = if slow { self.slow() } else { self.fetch };
                let there = self.disk_free.map_or(now, |free| free.max(now)) + time;
                self.disk_free = Some(there);
                there.max(now + self.usual)
            }
            _ if slow => now + self.slow(),
            _ => now + self.usual,
        };
        self.seen.entry(fetch).or_insert(at);
        self.running.push(Reverse((at, message)));
    }

    fn slow(&mut self) -> Duration {
        match self.rare_spread {
            Duration::ZERO => self.rare,
            spread => self.rare + spread.mul_f64(self.random.fraction()),
        }
    }

    /// A reply that is ready, and since when.
    pub fn reply(&mut self, now: Instant) -> Option<(Instant, SimulatedMessage)> {
        self.next_event().filter(|at| *at <= now)?;
        self.running.pop().map(|Reverse(entry)| entry)
    }

    /// When the next reply is ready.
    pub fn next_event(&self) -> Option<Instant> {
        self.running.peek().map(|Reverse((at, _))| *at)
    }
}
