//! How many calls to keep in flight: twice what the path holds, as measured from the calls themselves.
//!
//! A path that delivers `rate` calls a second and answers a lone one after `latency` holds `rate` x `latency` of them; with
//! twice as many in flight it never runs dry. While fewer are in flight, the rate that is seen is only what they allow, so
//! that the target grows with each round of calls until the rate grows no more: fourfold at the start, twofold later. The clock is an
//! argument.

use std::fmt;
use std::time::Duration;

use howdah_units::{bytes, time};

/// For how long the shortest latency is believed: a route may have become longer, and a server slower. As with twice what
/// the path holds every call waits for others, it must be looked for then: for a moment fewer than the path holds are kept in
/// flight, which costs half a round trip.
const LATENCY_MEMORY: Duration = Duration::from_secs(30);
/// The same while there are signs of that: calls take so many times the shortest latency, though with twice what the path holds
/// in flight they should take twice as long, and go on to after a lower rate would have been noticed.
const LATENCY_MEMORY_IN_DOUBT: Duration = Duration::from_secs(10);
const DOUBTFUL: u32 = 4;
const DOUBT: u32 = 3;
/// Calls that are answered in such a moment before it ends.
const PROBES: u32 = 3;
/// For how many latencies the highest rate is remembered, and for how long at least: a pause of the path that is shorter
/// should not cost what was learnt.
const RATE_MEMORY: u32 = 10;
const RATE_MEMORY_MIN: Duration = Duration::from_secs(1);
/// A path counts as at least so long: threads are not woken to the microsecond, and what is in flight must last until they
/// are. On this host, 16 threads with 5 calls in flight took half as much processor time again as with 16.
const LATENCY_FLOOR: Duration = Duration::from_millis(2);
/// It counts as longer than it is for no more bytes than this. They lie in the processor's cache twice over: 25 MiB in flight on
/// this host read 5.2 GB/s where 8 MiB read 6.1.
const LATENCY_FLOOR_BYTES: f64 = (4 << 20) as f64;
/// The same where each call has a thread, which costs memory and wake-ups of its own: what waking one takes on a busy host.
const THREAD_LATENCY_FLOOR: Duration = Duration::from_micros(300);
/// Calls that are shorter than this are counted over it: a lone one of them sees a burst of answers, and no rate that lasts. On this
/// host it saw three times the rate, and four times the calls in flight cost a fifth of what was read.
const RATE_WINDOW: Duration = Duration::from_millis(2);
/// The most calls: what a path of 10 Gb/s and 100 ms takes of 1 MiB each, twice over. Linux servers work on 8 to 256 at a time, and
/// let the others wait in the socket.
const CEILING: usize = 256;
/// The most bytes in flight: what 10 Gb/s at 100 ms holds, twice over. With half of it, reads reached 720 MB/s there, not 870.
const MEMORY: usize = 256 << 20;
/// How many times what the path holds is kept in flight.
const AMPLE: f64 = 2.0;
/// The same until the rate has grown no more for the first time: a new connection's window grows meanwhile, and each round costs both a
/// round trip.
const AMPLE_AT_START: f64 = 4.0;
/// The start is over once so many rounds brought less than this growth.
const FLAT_ROUNDS: u32 = 2;
const GROWTH: f64 = 1.25;
/// How many times what the path holds is kept in flight while the shortest latency is looked for: so few that none waits, also where the rate was overestimated by a
/// third, and no fewer, since the path runs dry meanwhile. Half as many cost 1 Gb/s x 100 ms a whole round trip in ten seconds.
const SPARSE: f64 = 0.75;

/// Bounds of the number of calls in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// At least so many calls: enough that the next call waits at the server while one is answered.
    pub floor: usize,
    /// At least so many bytes, if that is more calls: a path takes them however many calls carry them.
    pub floor_bytes: usize,
    /// At most so many calls.
    pub ceiling: usize,
    /// Bytes that calls in flight may bring and take in all.
    pub memory_budget: usize,
    /// A path counts as at least so long.
    pub latency_floor: Duration,
    /// What the path is expected to carry, until the start is over.
    pub expected: Option<Expected>,
}

/// What a path is expected to carry, since it did minutes ago.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected {
    /// Bytes per second.
    pub bytes_per_second: u64,
    /// How long a call takes that waits for no other.
    pub latency: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            floor: 2,
            floor_bytes: 0,
            ceiling: CEILING,
            memory_budget: MEMORY,
            latency_floor: LATENCY_FLOOR,
            expected: None,
        }
    }
}

impl Bounds {
    /// For a caller that has a thread for each call, and pays for each thread.
    pub fn of_threads() -> Self {
        Self { latency_floor: THREAD_LATENCY_FLOOR, ..Self::default() }
    }
}

impl Expected {
    /// Calls of so many bytes that the path held.
    pub fn calls(&self, bytes: usize) -> usize {
        let holds = self.bytes_per_second as f64 * self.latency.as_secs_f64();
        (holds / bytes.max(1) as f64).ceil() as usize
    }
}

/// A call that was started.
#[derive(Debug, Clone, Copy)]
pub struct Started {
    at: Duration,
    /// Calls that had finished by then.
    finished: u64,
    /// Whether more calls were wanted when it started: the rate that it sees is not what the path could do.
    wanting: bool,
    /// Whether it looks for the shortest latency.
    probing: bool,
}

/// Why there are so many calls in flight, and not more or fewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Nothing was measured yet, or the path holds less than the floor.
    Floor,
    /// Twice what the path holds.
    Path,
    /// What the path held some minutes ago.
    Expected,
    /// The path would hold more than the ceiling.
    Ceiling,
    /// More calls would need more memory than the budget.
    Memory,
}

/// What was chosen, and the figures that it follows from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// Calls to keep in flight.
    pub target: usize,
    /// Why so many.
    pub reason: Reason,
    /// Calls that the path delivers per second.
    pub rate: f64,
    /// How long a call takes that waits for no other.
    pub latency: Duration,
    /// Bytes of a call on average.
    pub bytes: usize,
}

/// The number of calls in flight of one kind on one path. `now` is the time since any fixed moment.
#[derive(Debug, Clone)]
pub struct Flight {
    bounds: Bounds,
    in_flight: usize,
    finished: u64,
    /// The shortest latency, and when it was last seen.
    latency: Duration,
    latency_seen: Duration,
    /// Since when calls take too long for it.
    doubted: Option<Duration>,
    probe: Option<Probe>,
    /// Until the rate has grown no more for the first time.
    start: Option<Start>,
    rate: Highest,
    window: Window,
    /// Mean of the bytes of calls, over the last dozen or so.
    bytes: f64,
}

impl Flight {
    /// Nothing measured yet.
    pub fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            in_flight: 0,
            finished: 0,
            latency: Duration::ZERO,
            latency_seen: Duration::ZERO,
            doubted: None,
            probe: None,
            start: Some(Start::default()),
            rate: Highest::default(),
            window: Window::default(),
            bytes: 0.0,
        }
    }

    /// Calls move about so many bytes. Known before the first, what is expected of the path counts from the first on.
    pub fn with_call_size(mut self, bytes: usize) -> Self {
        self.bytes = bytes as f64;
        self
    }

    /// The path is expected to carry so much.
    pub fn expect(&mut self, expected: Option<Expected>) {
        self.bounds.expected = expected;
    }

    /// A call starts, which will move about so many bytes.
    pub fn on_start(&mut self, now: Duration, bytes: usize) -> Started {
        if self.bytes == 0.0 {
            self.bytes = bytes as f64;
        }
        if self.in_flight == 0 {
            self.window.pause(now, self.finished);
        }
        self.in_flight += 1;
        let target = self.in_flight_target();
        let (probing, wanting) = (self.probe.is_some() && self.in_flight <= target, self.in_flight < target);
        self.window.wanting |= wanting || probing;
        Started { at: now, finished: self.finished, wanting, probing }
    }

    /// A call was answered, and moved so many bytes.
    pub fn on_finish(&mut self, now: Duration, started: Started, bytes: usize) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.finished += 1;
        self.bytes += (bytes as f64 - self.bytes) / 16.0;
        let took = now.saturating_sub(started.at).max(Duration::from_micros(1));
        self.learn_latency(now, took, started.probing);
        let seen = match took >= RATE_WINDOW {
            true => Some((
                (self.finished - started.finished) as f64 / took.as_secs_f64(),
                started.wanting || started.probing,
            )),
            false => self.window.over(now, self.finished),
        };
        let memory = self.rate_memory();
        if let Some((rate, too_few)) = seen
            && (!too_few || rate > self.rate.get())
        {
            self.rate.add(now, rate, memory);
        }
        let highest = self.rate.get();
        if self.start.as_mut().is_some_and(|start| start.is_over(started.finished, self.finished, highest)) {
            self.start = None;
        }
    }

    fn learn_latency(&mut self, now: Duration, took: Duration, probing: bool) {
        if took <= self.latency || self.latency.is_zero() {
            (self.latency, self.latency_seen) = (took, now);
        }
        self.doubted = (took > self.latency * DOUBTFUL).then(|| self.doubted.unwrap_or(now));
        let memory = self.latency_memory(now);
        match &mut self.probe {
            Some(probe) if probing => {
                probe.lowest = probe.lowest.min(took);
                probe.left -= 1;
                if probe.left == 0 {
                    (self.latency, self.latency_seen) = (probe.lowest, now);
                    self.probe = None;
                }
            }
            None if now.saturating_sub(self.latency_seen) > memory => {
                self.probe = Some(Probe { left: PROBES, lowest: Duration::MAX });
            }
            _ => {}
        }
    }

    /// For how long the shortest latency is believed.
    fn latency_memory(&self, now: Duration) -> Duration {
        let in_doubt = |since| now.saturating_sub(since) > self.rate_memory() * DOUBT;
        if self.doubted.is_some_and(in_doubt) { LATENCY_MEMORY_IN_DOUBT } else { LATENCY_MEMORY }
    }

    /// For how long the highest rate is remembered.
    fn rate_memory(&self) -> Duration {
        (self.latency * RATE_MEMORY).max(RATE_MEMORY_MIN)
    }

    /// A call came to nothing: its time says nothing of the path.
    pub fn on_give_up(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// Calls in flight now.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Calls to keep in flight.
    pub fn in_flight_target(&self) -> usize {
        self.explain().target
    }

    /// What was chosen, and why.
    pub fn explain(&self) -> Choice {
        let (rate, latency) = (self.rate.get(), self.latency);
        let at_least =
            (rate * self.bounds.latency_floor.as_secs_f64()).min(LATENCY_FLOOR_BYTES / self.bytes.max(1.0));
        let holds = (rate * latency.as_secs_f64()).max(at_least);
        let wanted = match self.probe {
            Some(_) => (holds * SPARSE).floor(),
            None if self.start.is_some() => (holds * AMPLE_AT_START).ceil(),
            None => (holds * AMPLE).ceil(),
        };
        let bytes = self.bytes as usize;
        let expected = self.expected_calls();
        let (target, mut reason) = self.bounds.choose(wanted.max(expected), bytes);
        if reason == Reason::Path && expected > wanted {
            reason = Reason::Expected;
        }
        Choice { target, reason, rate, latency, bytes }
    }
}

impl Flight {
    /// Calls that the path held some minutes ago. Once the start is over, what is measured counts alone.
    fn expected_calls(&self) -> f64 {
        match (self.start, self.bounds.expected) {
            // How large calls are is not known before the first.
            (Some(_), Some(expected)) if self.bytes > 0.0 => expected.calls(self.bytes as usize) as f64,
            _ => 0.0,
        }
    }
}

impl Bounds {
    /// So many calls of so many bytes are wanted: how many there may be, and what decided.
    fn choose(&self, wanted: f64, bytes: usize) -> (usize, Reason) {
        let affordable = (self.memory_budget / bytes.max(1)).max(1);
        let floor = self.floor.max(self.floor_bytes / bytes.max(1));
        let (mut target, mut reason) = match wanted.ceil() as usize {
            wanted if wanted > floor => (wanted, Reason::Path),
            _ => (floor, Reason::Floor),
        };
        for (bound, most) in [(Reason::Ceiling, self.ceiling), (Reason::Memory, affordable)] {
            if target > most {
                (target, reason) = (most, bound);
            }
        }
        (target, reason)
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.reason {
            Reason::Floor => "the least there are",
            Reason::Path => "twice what the path holds",
            Reason::Expected => "what the path held some minutes ago",
            Reason::Ceiling => "the most there are",
            Reason::Memory => "what the memory budget allows",
        };
        write!(formatter, "{} calls in flight, {why}", self.target)?;
        if self.rate == 0.0 {
            return formatter.write_str("; nothing measured yet");
        }
        let (size, latency) = (bytes(self.bytes as f64), time(self.latency));
        write!(formatter, ": {:.0} calls/s of {size}, each {latency}", self.rate)
    }
}

/// A look for the shortest latency.
#[derive(Debug, Clone, Copy)]
struct Probe {
    left: u32,
    lowest: Duration,
}

/// The first rounds of calls, each of which sees what the round before allowed.
#[derive(Debug, Clone, Copy, Default)]
struct Start {
    /// The round is over when a call is answered that began with so many finished.
    round: u64,
    /// The highest rate before the round.
    rate: f64,
    flat: u32,
}

impl Start {
    /// A call was answered that had begun when so many were finished. Says whether the start is over.
    fn is_over(&mut self, began: u64, finished: u64, rate: f64) -> bool {
        if began < self.round {
            return false;
        }
        self.flat = if rate >= self.rate * GROWTH { 0 } else { self.flat + 1 };
        (self.round, self.rate) = (finished, rate);
        self.flat >= FLAT_ROUNDS
    }
}

/// A while in which short calls are counted.
#[derive(Debug, Clone, Copy, Default)]
struct Window {
    since: Duration,
    /// Calls that had finished by then.
    finished: u64,
    /// Whether at some moment of it fewer calls than the target were in flight.
    wanting: bool,
}

impl Window {
    /// No call was in flight until now.
    fn pause(&mut self, now: Duration, finished: u64) {
        if now.saturating_sub(self.since) >= RATE_WINDOW {
            (self.since, self.finished) = (now, finished);
        }
        self.wanting = true;
    }

    /// If it is over, the rate that it saw, and whether too few calls were in flight for it. The next one begins then.
    fn over(&mut self, now: Duration, finished: u64) -> Option<(f64, bool)> {
        let took = now.saturating_sub(self.since);
        if took < RATE_WINDOW {
            return None;
        }
        let seen = ((finished - self.finished) as f64 / took.as_secs_f64(), self.wanting);
        *self = Self { since: now, finished, wanting: false };
        Some(seen)
    }
}

/// The highest of the last while.
#[derive(Debug, Clone, Default)]
struct Highest {
    halves: [f64; 2],
    since: Duration,
}

impl Highest {
    fn add(&mut self, now: Duration, value: f64, memory: Duration) {
        if now.saturating_sub(self.since) > memory {
            self.halves = [0.0, self.halves[0]];
            self.since = now;
        }
        self.halves[0] = self.halves[0].max(value);
    }

    fn get(&self) -> f64 {
        self.halves[0].max(self.halves[1])
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    use proptest::prelude::*;

    use super::*;

    const SIZE: usize = 1 << 20;

    /// A path in virtual time: answers so many calls a second, one after the other, each a round trip later.
    struct Path {
        now: Duration,
        busy_until: Duration,
        answers: BinaryHeap<Reverse<(Duration, u64)>>,
        started: Vec<Started>,
    }

    impl Path {
        fn new() -> Self {
            Self {
                now: Duration::ZERO,
                busy_until: Duration::ZERO,
                answers: BinaryHeap::new(),
                started: Vec::new(),
            }
        }

        /// Keeps as many calls in flight as are wanted, for a while; gives the calls answered per second.
        fn run(&mut self, flight: &mut Flight, rate: f64, trip: Duration, time: Duration) -> f64 {
            let (end, mut answered) = (self.now + time, 0_u32);
            while self.now < end {
                while flight.in_flight() < flight.in_flight_target() {
                    self.busy_until = self.busy_until.max(self.now) + Duration::from_secs_f64(1.0 / rate);
                    self.answers.push(Reverse((self.busy_until + trip, self.started.len() as u64)));
                    self.started.push(flight.on_start(self.now, SIZE));
                }
                let Some(Reverse((at, call))) = self.answers.pop() else {
                    panic!("a call is always in flight")
                };
                self.now = at;
                answered += 1;
                flight.on_finish(at, self.started[call as usize], SIZE);
            }
            f64::from(answered) / time.as_secs_f64()
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn the_path_is_filled_and_not_flooded(rate in 20.0..2_000.0, trip in 0.0..0.3) {
            let bounds = Bounds { ceiling: 4_096, memory_budget: usize::MAX, ..Bounds::default() };
            let (mut flight, mut path) = (Flight::new(bounds), Path::new());
            let trip = Duration::from_secs_f64(trip);
            path.run(&mut flight, rate, trip, Duration::from_secs(90));
            let seen = path.run(&mut flight, rate, trip, Duration::from_secs(10));
            prop_assert!(seen > 0.95 * rate, "{seen} of {rate} calls/s: {}", flight.explain());
            let holds = rate * trip.max(LATENCY_FLOOR).as_secs_f64() + 1.0;
            let target = flight.in_flight_target() as f64;
            prop_assert!(target <= (2.5 * holds + 2.0).ceil(), "the path holds {holds}: {}", flight.explain());
        }

        #[test]
        fn a_path_that_changes_is_followed(before in 50.0..500.0, after in 50.0..500.0) {
            let (mut flight, mut path, trip) = (Flight::new(Bounds::default()), Path::new(), Duration::from_millis(100));
            path.run(&mut flight, before, trip, Duration::from_secs(10));
            path.run(&mut flight, after, trip, Duration::from_secs(40));
            let holds = after * 0.1 + 1.0;
            let target = flight.in_flight_target() as f64;
            prop_assert!(target >= holds.min(256.0) && target <= 2.5 * holds + 2.0, "{holds}: {}", flight.explain());
        }
    }

    #[test]
    fn a_path_that_became_longer_is_filled_again_soon() {
        const RATE: f64 = 500.0;
        let (mut flight, mut path) = (Flight::new(Bounds::default()), Path::new());
        path.run(&mut flight, RATE, Duration::from_millis(1), Duration::from_secs(20));
        let long = Duration::from_millis(60);
        let lost = path.run(&mut flight, RATE, long, Duration::from_secs(1));
        assert!(lost < 0.5 * RATE, "{lost}: it has room for few calls");
        path.run(&mut flight, RATE, long, Duration::from_secs(6));
        let seen = path.run(&mut flight, RATE, long, Duration::from_secs(5));
        assert!(seen > 0.95 * RATE, "{seen} of {RATE} calls/s: {}", flight.explain());
    }

    #[test]
    fn bounds_hold_and_are_named() {
        let run = |bounds| {
            let mut flight = Flight::new(bounds);
            Path::new().run(&mut flight, 1_000.0, Duration::from_millis(100), Duration::from_secs(5));
            flight.explain()
        };
        let chosen = run(Bounds { ceiling: 50, ..Bounds::default() });
        assert_eq!((chosen.target, chosen.reason), (50, Reason::Ceiling));
        let chosen = run(Bounds { memory_budget: 20 * SIZE, ..Bounds::default() });
        assert_eq!((chosen.target, chosen.reason), (20, Reason::Memory));
        let mut flight = Flight::new(Bounds { floor_bytes: 2 << 20, ..Bounds::default() });
        flight.on_start(Duration::ZERO, 32 << 10);
        assert_eq!((flight.explain().target, flight.explain().reason), (64, Reason::Floor));
        let chosen = Flight::new(Bounds::default()).explain();
        assert_eq!((chosen.target, chosen.reason), (2, Reason::Floor));
        assert_eq!(chosen.to_string(), "2 calls in flight, the least there are; nothing measured yet");
    }

    #[test]
    fn the_first_rounds_fill_a_path_soon() {
        let (mut flight, mut path) = (Flight::new(Bounds::default()), Path::new());
        let round_trip = Duration::from_millis(100);
        path.run(&mut flight, 1_000.0, round_trip, round_trip * 5);
        let seen = path.run(&mut flight, 1_000.0, round_trip, round_trip * 5);
        assert!(seen > 950.0, "{seen} calls/s: {}", flight.explain());
        assert!(flight.start.is_none(), "{}", flight.explain());
    }

    #[test]
    fn a_path_that_is_known_is_full_from_the_first_round() {
        let latency = Duration::from_millis(100);
        let bytes_per_second = 1_000 * SIZE as u64;
        let bounds = Bounds { expected: Some(Expected { bytes_per_second, latency }), ..Bounds::default() };
        let mut flight = Flight::new(bounds);
        flight.on_start(Duration::ZERO, SIZE);
        assert_eq!((flight.explain().target, flight.explain().reason), (100, Reason::Expected));
        // It carries a tenth by now: that is noticed within the first rounds.
        let (mut flight, mut path) = (Flight::new(bounds), Path::new());
        path.run(&mut flight, 100.0, latency, Duration::from_secs(10));
        assert!((15..=30).contains(&flight.in_flight_target()), "{}", flight.explain());
    }

    #[test]
    fn answers_in_bursts_are_no_higher_rate() {
        let (mut flight, mut now) = (Flight::new(Bounds::default()), Duration::ZERO);
        for _ in 0..1_000 {
            // Eight are answered within a microsecond each, and one takes as long as eight do: 9,000 calls a second.
            let burst = [(); 8].map(|()| flight.on_start(now, SIZE));
            for call in burst {
                now += Duration::from_micros(1);
                flight.on_finish(now, call, SIZE);
            }
            let lone = flight.on_start(now, SIZE);
            now += Duration::from_micros(992);
            flight.on_finish(now, lone, SIZE);
        }
        let rate = flight.explain().rate;
        assert!((8_000.0..=14_000.0).contains(&rate), "{rate} calls/s of 9,000");
    }

    #[test]
    fn one_who_wants_little_does_not_unlearn_the_path() {
        let (mut flight, mut path) = (Flight::new(Bounds::default()), Path::new());
        path.run(&mut flight, 500.0, Duration::from_millis(100), Duration::from_secs(10));
        let before = flight.in_flight_target();
        let mut now = path.now;
        for _ in 0..flight.in_flight() {
            flight.on_give_up();
        }
        for _ in 0..100 {
            let started = flight.on_start(now, SIZE);
            now += Duration::from_millis(102);
            flight.on_finish(now, started, SIZE);
        }
        assert!(flight.in_flight_target() >= before / 2, "{before}, then {}", flight.explain());
    }
}
