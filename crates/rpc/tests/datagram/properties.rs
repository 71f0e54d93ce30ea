//! What holds on any path, with any server, for any mix of calls. (That the window stays below its bound and that timers
//! never stand still is checked by every simulation.)

use std::collections::HashMap;
use std::time::Duration;

use howdah_link::loss::{Bursts, Independent, Loss};
use howdah_link::{Delay, DropTail, Duplication, FragmentLoss, Jitter, Path, Rate, Reassembly, Reordering};
use howdah_rpc::client::datagram::{NewCall, Returned, Settings};
use howdah_rpc::client::{Class, ReplaySafety};
use howdah_rpc::simulation::{Load, Server, SimulatedMessage};
use proptest::prelude::*;

use crate::setup::simulation;

/// One direction of a path, as hostile as the parameters say.
#[derive(Debug, Clone)]
struct Direction {
    megabits: u64,
    buffer: usize,
    delay: u64,
    jitter: u64,
    loss: f64,
    burst: f64,
    fragment_loss: f64,
    reordering: f64,
    duplication: f64,
}

impl Direction {
    fn path(&self, seed: u64) -> Path<SimulatedMessage> {
        Path::new()
            .then(Rate::new(self.megabits * 1_000_000, DropTail::bytes(self.buffer)))
            .then(Delay::new(Duration::from_micros(self.delay)))
            .then(Jitter::new(Duration::from_micros(self.jitter), seed))
            .then(Loss::new(Independent::new(self.loss, seed + 1)))
            .then(Loss::new(Bursts::new(self.burst, 0.3, seed + 2)))
            .then(FragmentLoss::new(Independent::new(self.fragment_loss, seed + 3)))
            .then(Reordering::new(self.reordering, Duration::from_millis(3), seed + 4))
            .then(Duplication::new(self.duplication, seed + 5))
            .then(Reassembly::linux())
    }
}

fn direction() -> impl Strategy<Value = Direction> {
    let small = || 0.0..0.03;
    (
        1u64..1000,
        40_000usize..400_000,
        0u64..50_000,
        0u64..20_000,
        small(),
        small(),
        small(),
        small(),
        small(),
    )
        .prop_map(
            |(megabits, buffer, delay, jitter, loss, burst, fragment_loss, reordering, duplication)| {
                Direction {
                    megabits,
                    buffer,
                    delay,
                    jitter,
                    loss,
                    burst,
                    fragment_loss,
                    reordering,
                    duplication,
                }
            },
        )
}

/// Calls of every class, so many at a time.
struct Mix {
    left: Vec<(Class, usize)>,
    at_once: usize,
    next: u32,
    open: HashMap<u32, (Class, usize, Option<Duration>)>,
    answered: HashMap<u32, u32>,
    done: usize,
    /// The shortest time between two sendings of a call that must not run twice.
    shortest: Duration,
}

impl Load for Mix {
    fn start(&mut self, _: Duration, transfer: usize, calls: &mut Vec<NewCall<usize>>) {
        while self.open.len() < self.at_once {
            let Some((class, size)) = self.left.pop() else { break };
            let now = size.min(transfer);
            if class.is_bulk() && now < size {
                self.left.push((class, size - now));
            }
            self.next += 1;
            let (sends, receives) = match class {
                Class::Read => (140, now + 128),
                Class::Write => (now + 180, 128),
                Class::Listing => (140, 4096),
                _ => (140, 128),
            };
            let replay =
                if class == Class::Change { ReplaySafety::OnceOnly } else { ReplaySafety::Idempotent };
            let transfer = class.is_bulk().then_some(now);
            self.open.insert(self.next, (class, now, None));
            let (xid, expires) = (self.next, None);
            calls.push(NewCall { xid, class, replay, sends, receives, transfer, expires, call: receives });
        }
    }

    fn answered(&mut self, _: Duration, xid: u32) {
        *self.answered.entry(xid).or_default() += 1;
        assert!(self.open.remove(&xid).is_some(), "answered a call that is not open");
        self.done += 1;
    }

    fn sent(&mut self, now: Duration, xid: u32, _: u32) {
        if let Some((Class::Change, _, last)) = self.open.get_mut(&xid) {
            if let Some(last) = last {
                self.shortest = self.shortest.min(now - *last);
            }
            *last = Some(now);
        }
    }

    fn returned(&mut self, xid: u32, why: Returned) {
        let (class, size, _) = self.open.remove(&xid).expect("a call that is open");
        let Returned::TooLarge { transfer } = why else { panic!("{why:?}") };
        assert!(class.is_bulk() && transfer < size);
        self.left.push((class, size));
    }

    fn is_done(&self) -> bool {
        self.left.is_empty() && self.open.is_empty()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn every_call_is_answered_once_on_any_path(
        out in direction(),
        back in direction(),
        seed in 0u64..1_000_000,
        classes in prop::collection::vec((0usize..Class::COUNT, 1usize..40_000), 1..150),
        at_once in 1usize..40,
        most_calls in 1usize..40,
        transfer in prop_oneof![Just(None), Just(Some(8192)), Just(Some(32_768))],
        rare in 0u64..3_000,
    ) {
        let settings =
            Settings { first_transfer: transfer, most_calls, receive_room: 4 << 20, ..Settings::default() };
        let mut server = Server::quick(Duration::from_micros(100));
        (server.rare, server.rarely) = (Duration::from_millis(rare), 0.02);
        let mut simulation = simulation(settings, out.path(seed), back.path(seed + 10), server);
        let mut mix = Mix {
            left: classes.iter().map(|(class, size)| (Class::ALL[*class], *size)).collect(),
            at_once,
            next: 0,
            open: HashMap::new(),
            answered: HashMap::new(),
            done: 0,
            shortest: Duration::MAX,
        };
        simulation.run(&mut mix, Duration::from_secs(36_000));
        prop_assert!(mix.is_done(), "{} calls are not answered: {:?}", mix.open.len(), simulation.report());
        prop_assert!(mix.answered.values().all(|times| *times == 1));
        prop_assert!(mix.shortest >= Duration::from_secs(1), "sent again after {:?}", mix.shortest);
        // A probe may be on its way while an answer ends one trouble and another one wants the next.
        prop_assert!(simulation.peer.len() <= simulation.probes(), "more is left than probes");
    }
}
