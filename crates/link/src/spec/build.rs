//! From what a path is like to its elements.

use std::fmt::Debug;
use std::time::Duration;

use super::{DirectionSpec, JitterSpec, PathSpec, QueueSpec, RateSpec};
use crate::loss::{Independent, Loss};
use crate::quantity::{Bitrate, Probability};
use crate::rate::{Constant, Opportunities, Pace, Steps};
use crate::{
    CoDel, Corruption, Delay, DropTail, Duplication, Jitter, Mtu, Outages, Path, Random, Rate, Reordering,
    Segments,
};

/// CoDel has room for so many usual queues: it is to keep its queue short by itself.
const CODEL_ROOM: usize = 8;
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

    /// One direction of a path with that round trip. In this order:
    ///
    /// 1. schedule and MTU: an interface that is down or refuses a packet does so before the packet waits;
    /// 2. the line with its queue: what waits is dropped by the queue alone, and what is sent takes line time, whatever
    ///    becomes of it;
    /// 3. loss, corruption, duplication: so a lost frame took line time (as on a radio), a duplicate takes none (it is
    ///    made in the network), and no memory is kept for what will not arrive;
    /// 4. delay, then jitter, then reordering: these only say when a packet arrives. Reordering is last, so that exactly
    ///    what it holds back is overtaken.
    pub fn build_for<B: Segments + Debug + Send + 'static>(
        &self,
        seed: u64,
        round_trip: Duration,
    ) -> Path<B> {
        let seeds = Seeds(seed);
        let path = self.line(self.entrance(), round_trip);
        self.exit(self.mishaps(path, &seeds), &seeds)
    }

    /// What is decided before a packet waits for the line.
    fn entrance<B: Segments + Debug + Send + 'static>(&self) -> Path<B> {
        let mut path = Path::new();
        if let Some(outages) = self.schedule {
            path = path.then(Outages::new(outages.down, outages.every));
        }
        if let Some(mtu) = self.mtu {
            path = path.then(Mtu::new(mtu.size, mtu.too_large));
        }
        path
    }

    fn line<B: Segments + Debug + Send + 'static>(&self, path: Path<B>, round_trip: Duration) -> Path<B> {
        match &self.rate {
            None | Some(RateSpec::Unlimited) => path,
            Some(RateSpec::Fixed(rate)) => self.paced(path, Constant::new(rate.0), round_trip),
            Some(RateSpec::Steps(steps)) => self.paced(path, Steps::new(steps.clone()), round_trip),
            Some(RateSpec::Opportunities(stamps)) => {
                self.paced(path, Opportunities::new(stamps.clone()), round_trip)
            }
            Some(RateSpec::Trace(file)) => {
                panic!("the trace {file} is to be loaded before the path is built")
            }
        }
    }

    fn paced<B, P>(&self, path: Path<B>, pace: P, round_trip: Duration) -> Path<B>
    where
        B: Segments + Debug + Send + 'static,
        P: Pace + 'static,
    {
        let rate = self.line_rate().expect("there is one");
        let usual = QueueSpec::usual(rate, round_trip).0;
        let in_round_trip = rate.bytes_in(round_trip) as f64;
        match self.queue {
            None => path.then(Rate::paced(pace, DropTail::bytes(usual))),
            Some(QueueSpec::Bdp(times)) => {
                path.then(Rate::paced(pace, DropTail::bytes((in_round_trip * times) as usize)))
            }
            Some(QueueSpec::Bytes(bytes)) => path.then(Rate::paced(pace, DropTail::bytes(bytes.0))),
            Some(QueueSpec::Packets(count)) => {
                path.then(Rate::paced(pace, DropTail::packets(count as usize)))
            }
            Some(QueueSpec::CoDel) => {
                path.then(Rate::paced(pace, CoDel::new(usual.saturating_mul(CODEL_ROOM))))
            }
        }
    }

    /// What happens to packets that were sent.
    fn mishaps<B: Segments + Debug + Send + 'static>(&self, mut path: Path<B>, seeds: &Seeds) -> Path<B> {
        if let Some(loss) = likely(self.loss) {
            path = path.then(Loss::new(Independent::new(loss, seeds.of("loss"))));
        }
        if let Some(bursts) = self.bursts {
            path = path.then(Loss::new(bursts.rule(seeds.of("bursts"))));
        }
        if let Some(corrupt) = likely(self.corrupt) {
            path = path.then(Corruption::new(corrupt, seeds.of("corrupt")));
        }
        if let Some(duplicate) = likely(self.duplicate) {
            path = path.then(Duplication::new(duplicate, seeds.of("duplicate")));
        }
        path
    }

    /// When packets arrive.
    fn exit<B: Segments + Debug + Send + 'static>(&self, mut path: Path<B>, seeds: &Seeds) -> Path<B> {
        if !self.delay().is_zero() {
            path = path.then(Delay::new(self.delay()));
        }
        if let Some(JitterSpec { most, overtaking }) = self.jitter {
            let jitter = Jitter::new(most, seeds.of("jitter"));
            path = path.then(if overtaking { jitter.overtaking() } else { jitter });
        }
        if let Some(reorder) = self.reorder {
            let hold = reorder.hold.unwrap_or_else(|| self.usual_hold());
            path = path.then(Reordering::new(reorder.packets.fraction(), hold, seeds.of("reorder")));
        }
        path
    }

    fn usual_hold(&self) -> Duration {
        let frames =
            |rate: Bitrate| Duration::from_secs(OVERTAKEN_FRAMES * FRAME_BITS).div_f64(rate.0 as f64);
        self.line_rate().map_or(LEAST_HOLD, |rate| frames(rate).max(LEAST_HOLD))
    }
}

/// What never happens needs no element.
fn likely(probability: Option<Probability>) -> Option<f64> {
    probability.map(Probability::fraction).filter(|fraction| *fraction > 0.0)
}

/// Seeds that follow from one: each element has its own, which does not depend on what else a path has.
struct Seeds(u64);

impl Seeds {
    fn of(&self, name: &str) -> u64 {
        let mix = |seed: u64, byte: u8| Random::new(seed ^ u64::from(byte)).number();
        name.bytes().fold(self.0, mix)
    }
}
