//! From what a path is like to its elements.

use std::fmt::Debug;
use std::time::Duration;

use super::{DirectionSpec, PathSpec, QueueSpec};
use crate::loss::{Independent, Loss};
use crate::quantity::{Bitrate, Span};
use crate::{Delay, DropTail, Duplication, Jitter, Path, Random, Rate, Reordering, Segments};

/// What is held back is so for as long as this many full frames take on the line, at least.
const OVERTAKEN_FRAMES: u64 = 8;
/// And so long at least.
const LEAST_HOLD: Duration = Duration::from_millis(1);
/// A full frame on an Ethernet's wire.
const FRAME_BITS: u64 = 1538 * 8;

impl PathSpec {
    /// Both directions, there and back, with different chances.
    pub fn build<B: Segments + Debug + Send + 'static>(&self, seed: u64) -> (Path<B>, Path<B>) {
        let round_trip = self.round_trip();
        let there = self.there.build_for(Seeds(seed).of("there"), round_trip);
        (there, self.back.build_for(Seeds(seed).of("back"), round_trip))
    }
}

impl DirectionSpec {
    /// One direction of a path that is the same both ways.
    pub fn build<B: Segments + Debug + Send + 'static>(&self, seed: u64) -> Path<B> {
        self.build_for(seed, self.delay() * 2)
    }

    /// One direction of a path with that round trip.
    pub fn build_for<B: Segments + Debug + Send + 'static>(
        &self,
        seed: u64,
        round_trip: Duration,
    ) -> Path<B> {
        let seeds = Seeds(seed);
        let mut path = Path::new();
        if let Some(rate) = self.line_rate() {
            path = path.then(Rate::new(rate.0, self.drop_tail(rate, round_trip)));
        }
        if let Some(loss) = self.loss {
            path = path.then(Loss::new(Independent::new(loss.fraction(), seeds.of("loss"))));
        }
        if let Some(bursts) = self.bursts {
            path = path.then(Loss::new(bursts.rule(seeds.of("bursts"))));
        }
        if let Some(duplicate) = self.duplicate {
            path = path.then(Duplication::new(duplicate.fraction(), seeds.of("duplicate")));
        }
        if let Some(Span(delay)) = self.delay {
            path = path.then(Delay::new(delay));
        }
        if let Some(jitter) = self.jitter {
            path = path.then(Jitter::new(jitter.most, seeds.of("jitter")));
        }
        if let Some(reorder) = self.reorder {
            let hold = reorder.hold.unwrap_or_else(|| self.usual_hold());
            path = path.then(Reordering::new(reorder.packets.fraction(), hold, seeds.of("reorder")));
        }
        path
    }

    fn drop_tail<B>(&self, rate: Bitrate, round_trip: Duration) -> DropTail<B> {
        match self.queue {
            Some(QueueSpec::Packets(count)) => DropTail::packets(count as usize),
            Some(QueueSpec::Bytes(bytes)) => DropTail::bytes(bytes.0),
            Some(QueueSpec::Bdp(times)) => {
                DropTail::bytes((rate.bytes_in(round_trip) as f64 * times) as usize)
            }
            _ => DropTail::bytes(QueueSpec::usual(rate, round_trip).0),
        }
    }

    fn usual_hold(&self) -> Duration {
        let frames =
            |rate: Bitrate| Duration::from_secs(OVERTAKEN_FRAMES * FRAME_BITS).div_f64(rate.0 as f64);
        self.line_rate().map_or(LEAST_HOLD, |rate| frames(rate).max(LEAST_HOLD))
    }
}

/// Seeds that follow from one: each element has its own, which does not depend on what else a path has.
struct Seeds(u64);

impl Seeds {
    fn of(&self, name: &str) -> u64 {
        let mix = |seed: u64, byte: u8| Random::new(seed ^ u64::from(byte)).bits();
        name.bytes().fold(self.0, mix)
    }
}
