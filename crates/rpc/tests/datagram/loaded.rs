//! A host with more to do than it has processors for: the thread that receives and sends is not run for a while, again and
//! again. That is no reason to believe that anything was lost, and none to send more than the path holds.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use howdah_link::{Counters, Element, Packet, Random};
use howdah_rpc::client::Class;
use howdah_rpc::client::datagram::{NewCall, Output, Peer, ReceivedReply, Settings};
use howdah_rpc::simulation::{Reader, Server, SimulatedMessage, read};

use crate::clean::line;
use crate::setup::simulation;

/// Holds what comes while the host is not run.
#[derive(Debug)]
struct Stalls {
    random: Random,
    /// The present stall, or the next one.
    stall: Option<(Instant, Instant)>,
    longest: Duration,
    held: VecDeque<(Instant, Packet<SimulatedMessage>)>,
}

impl Stalls {
    fn new(longest: Duration, seed: u64) -> Self {
        Self { random: Random::new(seed), stall: None, longest, held: VecDeque::new() }
    }

    /// When something is seen that comes now.
    fn seen(&mut self, now: Instant) -> Instant {
        loop {
            let (from, to) = *self.stall.get_or_insert((now, now));
            if now < to {
                return if now < from { now } else { to };
            }
            let from = to + self.longest.mul_f64(self.random.fraction() * 3.0);
            self.stall = Some((from, from + self.longest.mul_f64(self.random.fraction())));
        }
    }
}

impl Element<SimulatedMessage> for Stalls {
    fn push(&mut self, now: Instant, packet: Packet<SimulatedMessage>) {
        let at = self.seen(now);
        self.held.push_back((at, packet));
    }

    fn poll(&mut self, now: Instant) -> Option<(Instant, Packet<SimulatedMessage>)> {
        self.next_event().filter(|at| *at <= now)?;
        self.held.pop_front()
    }

    fn next_event(&self) -> Option<Instant> {
        self.held.front().map(|(at, _)| *at)
    }

    fn counters(&self) -> Counters {
        Counters::default()
    }

    fn name(&self) -> &'static str {
        "stalls"
    }
}

#[test]
fn a_switch_is_not_filled_by_a_host_that_stalls() {
    for transfer in [8 << 10, 32 << 10] {
        for seed in 0..20 {
            let settings =
                Settings { first_transfer: Some(transfer), receive_room: 8 << 20, ..Settings::default() };
            let path = |seed| {
                line(100_000_000, 256 << 10, Duration::from_micros(100))
                    .then(Stalls::new(Duration::from_millis(8), seed))
            };
            let server = Server::quick(Duration::from_micros(30));
            let mut simulation = simulation(settings, path(seed), path(seed + 100), server);
            let mut reader = Reader::new(20 << 20, 0);
            // The reader has little in flight for a while, then as much as may be.
            for at in 1..400 {
                reader.at_once = if at % 4 > 0 { (128 << 10) / transfer } else { (1 << 20) / transfer };
                simulation.run(&mut reader, Duration::from_millis(50 * at as u64));
            }
            let report = simulation.report();
            let dropped: u64 = simulation.back.report().map(|(_, counters)| counters.dropped.packets).sum();
            println!("{transfer} {seed}: {} KiB of window, {dropped} lost", report.window_bytes >> 10);
            assert_eq!((dropped, report.transfer_drops), (0, 0), "seed {seed}: {report:?}");
            assert_eq!(simulation.retransmissions(), 0, "seed {seed}: {report:?}");
        }
    }
}

/// READs of 32 KiB, of which the first is never answered.
fn overtaken(peer: &mut Peer<u32>, start: Instant) {
    for xid in 0..64 {
        let NewCall { class, replay, sends, receives, transfer, expires, .. } = read(xid, 32 << 10);
        peer.start(start, NewCall { xid, class, replay, sends, receives, transfer, expires, call: xid });
        while peer.poll_to_send(start).is_some() {}
        if xid > 0 {
            assert!(matches!(peer.received(start, xid), ReceivedReply::Answer { .. }));
        }
    }
}

#[test]
fn nothing_is_late_before_somebody_has_looked_for_its_answer() {
    let start = Instant::now();
    let settings = Settings { first_transfer: Some(32 << 10), ..Settings::default() };
    let mut peer = Peer::new(&settings, start);
    overtaken(&mut peer, start);
    // Nobody was run for a second; then somebody makes a call, and only then somebody receives.
    let now = start + Duration::from_secs(1);
    assert!(peer.poll_to_send(now).is_none());
    assert_eq!(peer.transfer_size(), 32 << 10);
    assert!(peer.next_event().is_some_and(|at| at < now), "somebody has to look");
    assert!(matches!(peer.received(now, 0), ReceivedReply::Answer { sends: 1, .. }));
    assert!(peer.poll(now).is_none());
    // A thread that has looked, and found no answer, may say that it is lost.
    let mut peer = Peer::new(&settings, start);
    overtaken(&mut peer, start);
    assert!(matches!(peer.poll(now), Some(Output::Returned { .. })));
    assert_eq!(peer.transfer_size(), 1024);
    let lost = peer.report(now).classes.into_iter().find(|report| report.class == Class::Read);
    assert!(lost.is_some_and(|report| report.answers == 63));
}
