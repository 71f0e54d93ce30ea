//! CoDel where its RFC says that it matters: TCP keeps a line busy, and a queue stands for as long as nobody stops it.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use howdah_link::queue::CoDel;
use howdah_link::{Delay, DropTail, Element, Packet, Path, Queue, Random, Rate, Segments};

const RATE: u64 = 10_000_000;
const HALF: Duration = Duration::from_millis(50);
const WARM: Duration = Duration::from_secs(20);
const END: Duration = Duration::from_secs(120);

/// A frame of a connection, and when it was sent.
#[derive(Debug, Clone)]
struct Frame {
    connection: usize,
    number: u64,
    sent: Instant,
}

impl Segments for Frame {
    fn split_first(&mut self, _: u32) -> Self {
        unreachable!("one segment")
    }

    fn corrupt(&mut self, _: &mut Random) {}
}

/// A connection that halves its window when it hears of a loss, once a round trip (Reno), and always has more to send.
struct Reno {
    window: f64,
    threshold: f64,
    flight: u64,
    next: u64,
    /// Losses before this one were answered already.
    answered: u64,
    /// What the receiver expects.
    expected: u64,
}

impl Reno {
    fn new() -> Self {
        Self { window: 10.0, threshold: f64::MAX, flight: 0, next: 0, answered: 0, expected: 0 }
    }

    /// An acknowledgement of one, by which so many before it are known to be lost.
    fn acknowledged(&mut self, number: u64, lost: u64) {
        self.flight -= 1 + lost;
        if lost > 0 && number >= self.answered {
            self.window = (self.window / 2.0).max(2.0);
            (self.threshold, self.answered) = (self.window, self.next);
        } else if self.window < self.threshold {
            self.window += 1.0;
        } else {
            self.window += 1.0 / self.window;
        }
    }
}

/// Mean wait in the queue, and what part of the line was used, once it has settled.
fn settle(queue: impl Queue<Frame> + 'static, connections: usize) -> (Duration, f64) {
    let mut path = Path::new().then(Rate::new(RATE, queue)).then(Delay::new(HALF));
    let start = Instant::now();
    let mut senders: Vec<_> = (0..connections).map(|_| Reno::new()).collect();
    let mut acknowledgements: VecDeque<(Instant, usize, u64, u64)> = VecDeque::new();
    let (mut now, mut waited, mut count) = (start, Duration::ZERO, 0u32);
    while now < start + END {
        while acknowledgements.front().is_some_and(|(at, ..)| *at <= now) {
            let Some((_, connection, number, lost)) = acknowledgements.pop_front() else { break };
            senders[connection].acknowledged(number, lost);
        }
        for (connection, sender) in senders.iter_mut().enumerate() {
            while (sender.flight as f64) < sender.window {
                path.push(now, Packet::whole(1538, Frame { connection, number: sender.next, sent: now }));
                sender.flight += 1;
                sender.next += 1;
            }
        }
        while let Some((at, packet)) = path.poll(now) {
            let Frame { connection, number, sent } = packet.body;
            let lost = number - senders[connection].expected;
            senders[connection].expected = number + 1;
            acknowledgements.push_back((at + HALF, connection, number, lost));
            if now > start + WARM {
                waited += at - sent - HALF;
                count += 1;
            }
        }
        let next = acknowledgements.front().map(|(at, ..)| *at).into_iter().chain(path.next_event()).min();
        now = next.expect("something is on its way");
    }
    let used = f64::from(count) * 1538.0 * 8.0 / (END - WARM).as_secs_f64() / RATE as f64;
    (waited / count, used)
}

#[test]
fn a_standing_queue_is_kept_near_the_target_and_the_line_busy() {
    for connections in [1, 4, 16] {
        let (wait, used) = settle(CoDel::new(10 << 20), connections);
        let (bloated, _) = settle(DropTail::bytes(1 << 20), connections);
        assert!(wait < Duration::from_millis(20), "{connections} connections wait {wait:?}");
        assert!(used > 0.75, "{connections} connections use {used} of the line");
        assert!(bloated > 10 * wait, "{bloated:?} without it, {wait:?} with it");
    }
}

#[test]
fn a_burst_that_passes_is_left_alone() {
    let mut path = Path::new().then(Rate::new(RATE, CoDel::new(10 << 20)));
    let mut now = Instant::now();
    for burst in 0..20 {
        // 50 frames wait up to 61 ms, but the queue is empty long before a round trip is over.
        for number in 0..50 {
            path.push(now, Packet::whole(1538, Frame { connection: burst, number, sent: now }));
        }
        now += Duration::from_millis(200);
        while path.poll(now).is_some() {}
    }
    assert_eq!(path.counters().dropped.packets, 0);
}
