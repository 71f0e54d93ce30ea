//! Calls over several lanes in virtual time: the window, the choice of a lane and its meter together, over models of paths.

#![allow(clippy::disallowed_methods)] // Some instant is needed to start from.

use std::time::{Duration, Instant};

use howdah_link::{Delay, DropTail, Element, Packet, Path, Rate};
use howdah_rpc::client::Class;
use howdah_rpc::client::lanes::{Candidate, LaneMeter, Place, Window, first_to_deliver};
use howdah_tune::flight::Bounds;

const MIB: usize = 1 << 20;
const HALF_TRIP: Duration = Duration::from_millis(25);

/// A READ under way: when it was made, its place, and its lane.
#[derive(Debug, Clone, Copy)]
struct Call {
    made: Duration,
    place: Place,
    lane: usize,
}

/// A lane: what comes back over it takes its time.
struct Lane {
    path: Path<Vec<u8>>,
    meter: LaneMeter,
    load: usize,
    answered: u64,
    is_connected: bool,
}

/// A channel whose caller always wants more.
struct Channel {
    start: Instant,
    now: Instant,
    window: Window<usize>,
    lanes: Vec<Lane>,
    calls: Vec<Call>,
    waiting: usize,
}

impl Channel {
    /// Over lanes of so many megabits per second.
    fn over(rates: &[u64]) -> Self {
        let lane = |megabits: &u64| Lane {
            path: Path::new()
                .then(Delay::new(HALF_TRIP))
                .then(Rate::new(megabits * 1_000_000, DropTail::bytes(usize::MAX)))
                .then(Delay::new(HALF_TRIP)),
            meter: LaneMeter::default(),
            load: 0,
            answered: 0,
            is_connected: true,
        };
        let start = Instant::now();
        Self {
            start,
            now: start,
            window: Window::new(Bounds::default()),
            lanes: rates.iter().map(lane).collect(),
            calls: Vec::new(),
            waiting: 0,
        }
    }

    fn time(&self) -> Duration {
        self.now - self.start
    }

    /// Sends a call over the lane that delivers it first.
    fn send(&mut self, call: usize, place: Place) {
        let candidates: Vec<_> = self.lanes.iter().map(Lane::candidate).collect();
        let lane = first_to_deliver(MIB, &candidates).expect("there is a lane");
        let now = self.time();
        self.calls[call] = Call { made: self.calls[call].made, place, lane };
        self.lanes[lane].meter.on_start(now, MIB);
        self.lanes[lane].load += 1;
        self.lanes[lane].path.push(self.now, Packet::whole(MIB, call.to_be_bytes().to_vec()));
    }

    /// Makes calls until one waits.
    fn make_calls(&mut self) {
        while self.waiting == 0 {
            let call = self.calls.len();
            self.calls.push(Call { made: self.time(), place: Place::None, lane: 0 });
            self.window.enter(call, (Class::Read, MIB));
            self.waiting += 1;
            self.send_next();
        }
    }

    fn send_next(&mut self) {
        while let Some((call, place)) = self.window.next(self.time()) {
            self.waiting -= 1;
            self.send(call, place);
        }
    }

    /// Moves on to what happens next.
    fn step(&mut self) {
        self.make_calls();
        let next = self.lanes.iter().filter_map(|lane| lane.path.next_event()).min();
        self.now = next.expect("a call is always in flight");
        let now = self.time();
        for lane in 0..self.lanes.len() {
            while let Some((_, packet)) = self.lanes[lane].path.poll(self.now) {
                let call = usize::from_be_bytes(packet.body.try_into().expect("a number"));
                let Call { made, place, lane: carries } = self.calls[call];
                assert_eq!(carries, lane);
                let Lane { meter, load, answered, .. } = &mut self.lanes[lane];
                meter.on_finish(now, MIB, Some(now - made));
                (*load, *answered) = (*load - 1, *answered + 1);
                self.window.leave(place, Some(MIB), now);
                self.send_next();
            }
        }
    }

    /// Runs for so long; the calls that each lane answered in that time.
    fn run(&mut self, seconds: u64) -> Vec<u64> {
        let before: Vec<u64> = self.lanes.iter().map(|lane| lane.answered).collect();
        let end = self.now + Duration::from_secs(seconds);
        while self.now < end {
            self.step();
        }
        self.lanes.iter().zip(before).map(|(lane, before)| lane.answered - before).collect()
    }
}

impl Lane {
    fn candidate(&self) -> Candidate {
        Candidate {
            is_connected: self.is_connected,
            is_suspect: false,
            meter: self.meter,
            load: self.load,
            is_eligible: true,
        }
    }
}

/// Calls of 1 MiB that a lane of so many megabits per second carries in ten seconds.
fn most(megabits: u64) -> u64 {
    megabits * 1_000_000 * 10 / 8 / MIB as u64
}

#[test]
fn lanes_of_different_rates_are_all_filled() {
    let mut channel = Channel::over(&[400, 100, 100]);
    channel.run(10);
    let answered = channel.run(10);
    for (answered, megabits) in answered.iter().zip([400, 100, 100]) {
        let most = most(megabits);
        assert!((most * 9 / 10..=most + 1).contains(answered), "{answered} of {most}");
    }
}

#[test]
fn a_lane_that_is_not_connected_gets_no_calls() {
    let mut channel = Channel::over(&[400, 400]);
    channel.lanes[0].is_connected = false;
    channel.run(5);
    let answered = channel.run(10);
    assert_eq!(answered[0], 0);
    assert!(answered[1] >= most(400) * 9 / 10, "{answered:?}");
    channel.lanes[0].is_connected = true;
    channel.run(10);
    let answered = channel.run(10);
    assert!(answered.iter().all(|answered| *answered >= most(400) * 85 / 100), "{answered:?}");
}
