//! What a packet costs on usual paths: nanoseconds of processor time, from when it is pushed to when it was polled.
//! `cargo run --release -p howdah-link --example nanoseconds`

#![allow(clippy::disallowed_methods)] // It measures time.
#![allow(clippy::print_stdout)] // Figures are what it is for.

use std::time::{Duration, Instant};

use howdah_link::{Element, Packet, Path, PathSpec, Random, Segments};

/// As large as a buffer of bytes.
#[derive(Debug, Clone)]
struct Body([u64; 4]);

impl Segments for Body {
    fn split_first(&mut self, segments: u32) -> Self {
        self.0[0] += u64::from(segments);
        self.clone()
    }

    fn corrupt(&mut self, _: &mut Random) {
        self.0[1] = 1;
    }
}

const PATHS: [(&str, &str); 7] = [
    ("nothing", ""),
    ("delay 15 ms", "rtt = \"30ms\""),
    ("1 Gb/s, 15 ms", "rate = \"1Gbit\"\nrtt = \"30ms\""),
    ("1 Gb/s, 15 ms, loss 0.01 %", "rate = \"1Gbit\"\nrtt = \"30ms\"\nloss = \"0.01%\""),
    ("1 Gb/s, CoDel, 15 ms", "rate = \"1Gbit\"\nrtt = \"30ms\"\nqueue = \"codel\""),
    (
        "1 Gb/s, 15 ms, jitter, bursts",
        "profile = \"wan-30ms\"\njitter = \"1ms\"\nbursts = { loss = \"1%\", length = 4 }",
    ),
    (
        "all there is",
        "rate = \"1Gbit\"\nrtt = \"30ms\"\nloss = \"0.1%\"\ncorrupt = \"0.1%\"\nduplicate = \"0.1%\"\njitter = \"1ms\"\n\
         reorder = \"0.1%\"\nmtu = 1500\nschedule = \"down 1s every 30s\"\nbursts = { loss = \"1%\", length = 4 }",
    ),
];

/// Nanoseconds of each packet: 95 % of a gigabit in packets of so many full frames, the path looked at each 50 us. `now`
/// is the path's time, and moves on.
fn cost(path: &mut Path<Body>, now: &mut Instant, segments: u32, packets: u32) -> f64 {
    let bytes = 1538 * segments as usize;
    let gap = Duration::from_nanos(bytes as u64 * 8 * 100 / 95);
    let begin = Instant::now();
    let mut looked = *now;
    let mut left = 0u64;
    for number in 0..packets {
        *now += gap;
        path.push(*now, Packet::of_segments(bytes, segments, 1538, Body([u64::from(number); 4])));
        if *now > looked + Duration::from_micros(50) {
            looked = *now;
            left +=
                std::iter::from_fn(|| path.poll(looked)).map(|(_, packet)| packet.body.0[0] & 1).sum::<u64>();
        }
    }
    std::hint::black_box(left);
    begin.elapsed().as_nanos() as f64 / f64::from(packets)
}

fn main() {
    println!("{:<32} {:>14} {:>24}", "ns of a packet of", "1 frame", "44 frames (64 KiB)");
    for (name, text) in PATHS {
        let spec: PathSpec = toml::from_str(text).expect("a path");
        let ns = |segments, packets| {
            let (mut path, _) = spec.build(1);
            let mut now = Instant::now();
            // The first ones make room.
            cost(&mut path, &mut now, segments, packets / 10);
            (0..3).map(|_| cost(&mut path, &mut now, segments, packets)).fold(f64::MAX, f64::min)
        };
        println!("{name:<32} {:>14.0} {:>24.0}", ns(1, 1_000_000), ns(44, 200_000));
    }
}
