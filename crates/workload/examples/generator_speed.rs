//! How fast data is made and known again on this machine, one thread: `cargo run --release -p howdah-workload --example
//! generator_speed`. The promise is 5 GB/s and more for making it.
#![allow(clippy::print_stdout, reason = "an example for people")]

use std::hint::black_box;
use std::time::Instant;

use howdah_workload::content::{Generator, Stamp};

/// A transfer, as workloads make it.
const TRANSFER: usize = 1 << 20;

/// Enough of them to last a second or so.
const TIMES: u32 = 4096;

fn main() {
    let (generator, mut buffer) = (Generator::new(1), vec![0; TRANSFER]);
    let stamp = |generation| Stamp { file: 1, generation };
    let rate = |began: Instant| f64::from(TIMES) * TRANSFER as f64 / began.elapsed().as_secs_f64() / 1e9;
    let began = Instant::now();
    for generation in 0..TIMES {
        generator.fill(stamp(generation), 0, black_box(&mut buffer));
    }
    println!("made at {:.1} GB/s", rate(began));
    let began = Instant::now();
    for _ in 0..TIMES {
        generator.check(stamp(TIMES - 1), 0, black_box(&buffer)).expect("what was made");
    }
    println!("known again at {:.1} GB/s", rate(began));
}
