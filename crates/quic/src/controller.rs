//! How much may be in flight: what the path delivers in a round trip, as bbr has it, and not how much it loses. A loss is no congestion
//! on a long path.
//!
//! quinn-proto paces by the window alone, at 1.25 windows in a round trip, so the window is all that is decided here.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory};

use crate::facts::FlightCount;

/// Packets to begin with (RFC 9002 7.2).
const FIRST_PACKETS: u64 = 10;
/// Packets that are always allowed.
const LEAST_PACKETS: u64 = 4;
/// Rounds for which a rate is remembered.
const RATE_ROUNDS: usize = 10;
/// For how long a round trip is remembered.
const ROUND_TRIP_AGE: Duration = Duration::from_secs(10);
/// The path is full if its rate does not grow by a quarter in so many rounds.
const FULL_ROUNDS: u32 = 3;
/// A round of the first kind of the cycle is followed by another one if the rate grew by this factor.
const MORE: f64 = 1.1;
/// A round that loses a larger part than this of what it sends overflows a queue.
const LOSS_TOLERATED: f64 = 0.05;
/// What the window is cut to after such a round.
const CUT: f64 = 0.85;
/// What a clean round adds to a window that was cut.
const REGROWTH: f64 = 1.05;
/// Windows of the rounds of a cycle, in parts of what the path holds: more, to see whether it has become faster; less, to empty the queue
/// that this made; then what it holds.
const CYCLE: [f64; 8] = [1.25, 0.8, 1.05, 1.05, 1.05, 1.05, 1.05, 1.05];
/// What is in flight beyond that at least, since acknowledgements come in bunches.
const BUNCHES: Duration = Duration::from_millis(2);

/// Makes controllers that count what is in flight.
#[derive(Debug)]
pub struct ModelFactory(pub Arc<FlightCount>);

/// The controller of one path.
#[derive(Debug, Clone)]
pub struct PathModel {
    flight: Arc<FlightCount>,
    packet: u64,
    window: u64,
    is_starting: bool,
    /// The most that the last rounds delivered, in bytes per second; the rate of each.
    rates: VecDeque<f64>,
    round: Round,
    bunches: Bunches,
    /// The shortest round trip of late, and when it was seen.
    round_trip: Option<(Duration, Instant)>,
    /// The best rate at the start, and rounds since it grew.
    best: f64,
    full_rounds: u32,
    step: usize,
    /// What losses leave of the window.
    ceiling: Option<f64>,
}

/// How far acknowledgements run ahead of the rate. Where a host is busy, or a radio waits for its turn, they come in large bunches: without
/// so much more in flight, less is delivered in each round, and less is sent in the next.
#[derive(Debug, Clone, Default)]
struct Bunches {
    began: Option<Instant>,
    delivered: u64,
    /// The largest of this round, and of each of the last ones.
    largest: f64,
    of_rounds: VecDeque<f64>,
}

impl Bunches {
    fn add(&mut self, now: Instant, bytes: u64, rate: f64) {
        let passed = self.began.map_or(0.0, |began| now.duration_since(began).as_secs_f64());
        let mut expected = rate * passed;
        if self.delivered as f64 <= expected {
            (self.began, self.delivered, expected) = (Some(now), 0, 0.0);
        }
        self.delivered += bytes;
        self.largest = self.largest.max(self.delivered as f64 - expected);
    }

    fn end_round(&mut self) {
        self.of_rounds.push_back(std::mem::take(&mut self.largest));
        if self.of_rounds.len() > RATE_ROUNDS {
            self.of_rounds.pop_front();
        }
    }

    fn largest(&self) -> f64 {
        self.of_rounds.iter().copied().fold(0.0, f64::max)
    }
}

/// Between a packet and its acknowledgement.
#[derive(Debug, Clone, Default)]
struct Round {
    began: Option<Instant>,
    delivered: u64,
    lost: u64,
    /// The window was mostly used: what was delivered says what the path can do.
    is_filled: bool,
}

impl ControllerFactory for ModelFactory {
    fn build(self: Arc<Self>, _now: Instant, mtu: u16) -> Box<dyn Controller> {
        Box::new(PathModel::new(Arc::clone(&self.0), mtu))
    }
}

impl PathModel {
    fn new(flight: Arc<FlightCount>, mtu: u16) -> Self {
        let packet = u64::from(mtu);
        Self {
            flight,
            packet,
            window: FIRST_PACKETS * packet,
            is_starting: true,
            rates: VecDeque::new(),
            round: Round::default(),
            bunches: Bunches::default(),
            round_trip: None,
            best: 0.0,
            full_rounds: 0,
            step: 0,
            ceiling: None,
        }
    }

    fn rate(&self) -> f64 {
        self.rates.iter().copied().fold(0.0, f64::max)
    }

    /// Bytes that the path holds.
    fn holds(&self) -> f64 {
        self.round_trip.map_or(0.0, |(least, _)| self.rate() * least.as_secs_f64())
    }

    fn see_round_trip(&mut self, now: Instant, seen: Duration) {
        let is_new = self
            .round_trip
            .is_none_or(|(least, at)| seen <= least || now.duration_since(at) > ROUND_TRIP_AGE);
        if is_new {
            self.round_trip = Some((seen, now));
        }
    }

    fn on_delivered(&mut self, now: Instant, sent: Instant, bytes: u64, smoothed: Duration) {
        self.round.delivered += bytes;
        self.see_round_trip(now, now.duration_since(sent).min(smoothed));
        match self.is_starting {
            true if self.round.is_filled => self.window += bytes,
            true => {}
            false => self.bunches.add(now, bytes, self.rate()),
        }
        if self.round.began.is_some_and(|began| sent >= began) {
            self.end_round(now);
        }
    }

    fn end_round(&mut self, now: Instant) {
        let round = std::mem::replace(&mut self.round, Round { began: Some(now), ..Round::default() });
        let Some(began) = round.began else { return };
        let passed = now.duration_since(began).as_secs_f64();
        if passed <= 0.0 || round.delivered == 0 {
            return;
        }
        let rate = round.delivered as f64 / passed;
        let before = self.rate();
        if round.is_filled || rate > before {
            self.rates.push_back(rate);
            if self.rates.len() > RATE_ROUNDS {
                self.rates.pop_front();
            }
        }
        let lost = round.lost as f64 / (round.lost + round.delivered) as f64;
        let overflows = lost > LOSS_TOLERATED && round.lost > FIRST_PACKETS * self.packet;
        if self.is_starting {
            self.look_whether_full(round.is_filled, overflows);
        } else {
            // While more brings more, more is tried.
            let is_found = self.step == 0 && round.is_filled && !overflows && rate > MORE * before;
            self.step = if is_found { 0 } else { (self.step + 1) % CYCLE.len() };
            self.follow_losses(overflows);
            self.bunches.end_round();
        }
        self.set_window();
    }

    fn look_whether_full(&mut self, is_filled: bool, overflows: bool) {
        if self.rate() >= 1.25 * self.best {
            self.best = self.rate();
            self.full_rounds = 0;
        } else if is_filled {
            self.full_rounds += 1;
        }
        if self.full_rounds >= FULL_ROUNDS || overflows {
            self.is_starting = false;
            // The queue that the start filled is emptied first.
            self.step = 1;
        }
    }

    fn follow_losses(&mut self, overflows: bool) {
        let holds = self.holds();
        if overflows {
            // No lower than half of what gets through all the same: a path that loses much is no narrow one.
            let cut = self.ceiling.unwrap_or(self.window as f64) * CUT;
            self.ceiling = Some(cut.max(holds / 2.0));
        } else if let Some(ceiling) = self.ceiling {
            self.ceiling = Some(ceiling * REGROWTH).filter(|ceiling| *ceiling < 1.5 * holds);
        }
    }

    fn set_window(&mut self) {
        if self.is_starting {
            return;
        }
        let holds = self.holds();
        let least = (self.rate() * BUNCHES.as_secs_f64()).max((FIRST_PACKETS * self.packet) as f64);
        let wanted = holds * CYCLE[self.step] + self.bunches.largest().min(holds).max(least);
        let wanted = self.ceiling.map_or(wanted, |ceiling| wanted.min(ceiling));
        self.window = (wanted as u64).max(LEAST_PACKETS * self.packet);
    }
}

impl Controller for PathModel {
    fn on_sent(&mut self, now: Instant, bytes: u64, _last_packet_number: u64) {
        self.flight.add(bytes);
        self.round.is_filled |= self.flight.get() >= self.window / 4 * 3;
        self.round.began.get_or_insert(now);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, _limited: bool, rtt: &RttEstimator) {
        self.on_delivered(now, sent, bytes, rtt.get());
    }

    fn on_end_acks(&mut self, _now: Instant, in_flight: u64, _limited: bool, _largest: Option<u64>) {
        self.flight.set(in_flight);
    }

    fn on_congestion_event(&mut self, _now: Instant, _sent: Instant, is_persistent: bool, lost_bytes: u64) {
        self.round.lost += lost_bytes;
        if is_persistent {
            // Nothing came through for several round trips: whatever was known of the path is not true any more.
            *self = Self::new(Arc::clone(&self.flight), self.packet as u16);
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.packet = u64::from(new_mtu);
        self.window = self.window.max(LEAST_PACKETS * self.packet);
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        FIRST_PACKETS * self.packet
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)] // Some instant is needed to start from.
mod tests {
    use super::*;

    const PACKET: u64 = 1_200;
    const STEP: Duration = Duration::from_micros(100);

    /// A path with a queue, in front of which a controller sends as much as it may.
    struct Path {
        rate: f64,
        round_trip: Duration,
        queue: f64,
        /// One of so many packets is lost, whatever waits.
        loses: Option<u64>,
        /// Acknowledgements wait for so long on average, as where a host is busy.
        bunches: Duration,
    }

    /// What the path delivers in the second half of the time, in parts of what it can.
    fn use_of(path: &Path, time: Duration) -> f64 {
        let (flight, start) = (Arc::<FlightCount>::default(), Instant::now());
        let mut model = PathModel::new(Arc::clone(&flight), PACKET as u16);
        let mut under_way: VecDeque<(Instant, Instant, bool)> = VecDeque::new();
        let (mut free_at, mut delivered, mut number, mut now) = (start, 0, 0_u64, start);
        let (mut hears_at, mut random) = (start, 7_u64);
        while now < start + time {
            let is_heard = now >= hears_at;
            if is_heard {
                // Any time from none to twice that.
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                hears_at = now + path.bunches.mul_f64((random >> 33) as f64 / f64::from(1 << 30));
            }
            while is_heard && under_way.front().is_some_and(|(at, ..)| *at <= now) {
                let Some((_, sent, is_lost)) = under_way.pop_front() else { break };
                flight.set(flight.get() - PACKET);
                if is_lost {
                    model.round.lost += PACKET;
                    continue;
                }
                model.on_delivered(now, sent, PACKET, now - sent);
                delivered += PACKET * u64::from(now >= start + time / 2);
            }
            while flight.get() + PACKET <= model.window {
                model.on_sent(now, PACKET, number);
                number += 1;
                free_at = free_at.max(now);
                let waits = free_at.duration_since(now).as_secs_f64() * path.rate;
                let is_lost = waits > path.queue || path.loses.is_some_and(|one_of| number % one_of == 0);
                if waits <= path.queue {
                    free_at += Duration::from_secs_f64(PACKET as f64 / path.rate);
                }
                under_way.push_back((free_at + path.round_trip, now, is_lost));
            }
            now += STEP;
        }
        delivered as f64 / (path.rate * (time / 2).as_secs_f64())
    }

    #[test]
    fn a_path_is_filled_whatever_it_loses() {
        for (round_trip, loses) in
            [(30, None), (100, None), (30, Some(1_000)), (100, Some(1_000)), (30, Some(100))]
        {
            let round_trip = Duration::from_millis(round_trip);
            let path = Path {
                rate: 12.5e6,
                round_trip,
                queue: 12.5e6 * round_trip.as_secs_f64(),
                loses,
                bunches: Duration::ZERO,
            };
            let used = use_of(&path, Duration::from_secs(20));
            assert!(used > 0.85, "{round_trip:?} {loses:?}: {used}");
        }
    }

    #[test]
    fn a_short_queue_is_not_overrun_for_long() {
        let path = Path {
            rate: 12.5e6,
            round_trip: Duration::from_millis(30),
            queue: 60_000.0,
            loses: None,
            bunches: Duration::ZERO,
        };
        let used = use_of(&path, Duration::from_secs(20));
        assert!(used > 0.75, "{used}");
    }

    #[test]
    fn a_busy_host_does_not_end_in_a_small_window() {
        for (round_trip, bunches) in [(30, 10), (30, 15), (100, 20), (100, 50)] {
            let (round_trip, bunches) = (Duration::from_millis(round_trip), Duration::from_millis(bunches));
            let queue = 12.5e6 * round_trip.as_secs_f64();
            let path = Path { rate: 12.5e6, round_trip, queue, loses: None, bunches };
            let used = use_of(&path, Duration::from_secs(20));
            assert!(used > 0.9, "{round_trip:?} {bunches:?}: {used}");
        }
    }
}
