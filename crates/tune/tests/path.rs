//! The loop closed in virtual time: a sender on a path of `howdah-link`, whose buffer the tuner sizes, against the same
//! sender with the kernel's own. The sender is the simplest that shows what buffers do: it doubles its window each round
//! trip until the path's queue stands, and keeps no more in flight than its buffer and its peer's window allow.

#![allow(clippy::disallowed_methods, reason = "a path counts from some moment, whichever it is")]

use std::time::{Duration, Instant};

use howdah_link::{Delay, DropTail, Element, Packet, Path, Random, Rate, Segments};
use howdah_tune::budget::HostMemory;
use howdah_tune::floor::flight_of;
use howdah_tune::host::Host;
use howdah_tune::{Gauges, PathState, Receiving, Sample, Sending, Settings, SizeChange, Tuner, Verdict};

/// A super-packet of the kernel's.
const PACKET: u64 = 65_536;
const AUTOTUNED: u64 = 4 << 20;
const PEER_WINDOW: u64 = 64 << 20;

/// When a packet was sent.
#[derive(Debug, Clone)]
struct SentAt(Duration);

impl Segments for SentAt {
    fn split_first(&mut self, _: u32) -> Self {
        self.clone()
    }

    fn corrupt(&mut self, _: &mut Random) {}
}

struct Line {
    bits_per_second: u64,
    round_trip: Duration,
}

/// The sending end of a connection.
struct Sender {
    window: u64,
    buffer: u64,
    peer_window: u64,
    sent: u64,
    acknowledged: u64,
    rtt: Duration,
    min_rtt: Duration,
}

impl Sender {
    fn flight(&self) -> u64 {
        self.sent - self.acknowledged
    }

    fn limit(&self) -> u64 {
        self.window.min(flight_of(self.buffer)).min(self.peer_window)
    }

    fn acknowledge(&mut self, took: Duration) {
        self.acknowledged += PACKET;
        self.rtt = took;
        self.min_rtt = self.min_rtt.min(took);
        // No queue yet, and the window is what limits: grow.
        if took.as_secs_f64() < 1.1 * self.min_rtt.as_secs_f64() && self.flight() + 2 * PACKET >= self.window
        {
            self.window += PACKET;
        }
    }

    fn sample(&self, at: Duration) -> Sample {
        Sample {
            at,
            sending: Sending {
                sent: self.sent,
                flight: self.flight(),
                unsent: 1 << 20,
                congestion_window: self.window,
                peer_window: Some(self.peer_window),
                // What is in flight is in the buffer, and a blocked writer fills two thirds of it.
                queued: self.flight(),
                buffer: self.buffer,
                ..Sending::default()
            },
            receiving: Receiving::default(),
            path: PathState { rtt: self.rtt, min_rtt: self.min_rtt.min(self.rtt), ..PathState::default() },
            gauges: Gauges { replies_waiting: 1 << 20, held_up: at, ..Gauges::default() },
        }
    }
}

/// What a run showed.
struct Outcome {
    /// Bytes per second from the third second to the end.
    rate: f64,
    last: Verdict,
}

/// Sends for ten seconds. `forced`: whether the tuner may set the buffer.
fn run(line: &Line, forced: bool, peer_window: u64) -> Outcome {
    let host = Host {
        may_force: forced,
        send_autotuned_most: AUTOTUNED,
        receive_autotuned_most: 32 << 20,
        send_unforced_most: 425_984,
        has_bbr: true,
    };
    let memory = HostMemory { total: 16 << 30, tcp: [1 << 30, 3 << 29, 2 << 30], group: None };
    let mut tuner = Tuner::new(Settings::automatic(host, memory));
    let mut sender = Sender {
        window: 10 * PACKET,
        buffer: AUTOTUNED,
        peer_window,
        sent: 0,
        acknowledged: 0,
        rtt: line.round_trip,
        min_rtt: Duration::MAX,
    };
    apply(&mut sender, tuner.on_open(0, false));
    let start = Instant::now();
    let half = line.round_trip / 2;
    // There and back: the acknowledgements' way is a delay.
    let mut path = Path::new()
        .then(Rate::new(line.bits_per_second, DropTail::bytes(1 << 30)))
        .then(Delay::new(half))
        .then(Delay::new(half));
    let (mut now, end) = (Duration::ZERO, Duration::from_secs(10));
    let (mut next_sample, mut third_second) = (Duration::ZERO, 0);
    while now < end {
        while sender.flight() + PACKET <= sender.limit() {
            path.push(start + now, Packet::whole(PACKET as usize, SentAt(now)));
            sender.sent += PACKET;
        }
        let next = path.next_event().map_or(end, |at| at - start).min(next_sample);
        now = now.max(next);
        while let Some((at, packet)) = path.poll(start + now) {
            sender.acknowledge((at - start) - packet.body.0);
        }
        if now >= next_sample {
            let changes = tuner.on_sample(0, sender.sample(now));
            apply(&mut sender, changes);
            next_sample += Duration::from_millis(100);
        }
        if now < Duration::from_secs(3) {
            third_second = sender.acknowledged;
        }
    }
    let last = tuner.get(0).and_then(|connection| connection.judgement()).expect("it was judged");
    Outcome { rate: (sender.acknowledged - third_second) as f64 / 7.0, last: last.sending }
}

fn apply(sender: &mut Sender, changes: Vec<SizeChange>) {
    for change in changes {
        if let SizeChange::SendBuffer(size) = change {
            sender.buffer = size;
        }
    }
}

#[test]
fn the_kernel_s_own_buffer_is_named_and_ours_fills_the_line() {
    for (megabits, milliseconds) in [(1000, 30), (1000, 100), (2500, 100), (100, 300)] {
        let line =
            Line { bits_per_second: megabits * 1_000_000, round_trip: Duration::from_millis(milliseconds) };
        let share = |outcome: &Outcome| outcome.rate * 8.0 / line.bits_per_second as f64;
        let ours = run(&line, true, PEER_WINDOW);
        assert!(share(&ours) >= 0.95, "{megabits} Mb/s x {milliseconds} ms: {}", share(&ours));
        assert_eq!(ours.last, Verdict::PathFull, "{megabits} Mb/s x {milliseconds} ms");
        let stock = run(&line, false, PEER_WINDOW);
        let allowed = flight_of(AUTOTUNED) as f64 / line.round_trip.as_secs_f64();
        if allowed * 8.0 < 0.9 * line.bits_per_second as f64 {
            assert!(stock.rate <= 1.01 * allowed, "{} > {allowed}", stock.rate);
            assert_eq!(stock.last, Verdict::SendBuffer, "{megabits} Mb/s x {milliseconds} ms");
        }
    }
}

#[test]
fn a_peer_with_a_small_window_is_named() {
    let line = Line { bits_per_second: 1_000_000_000, round_trip: Duration::from_millis(100) };
    let outcome = run(&line, true, 1 << 20);
    assert!(outcome.rate <= 1.01 * (1 << 20) as f64 / 0.1, "{}", outcome.rate);
    assert_eq!(outcome.last, Verdict::PeerWindow);
}
