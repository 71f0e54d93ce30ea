//! Drives a path in virtual time.

use std::time::{Duration, Instant};

use howdah_link::quantity::{Bitrate, Span};
use howdah_link::{Element, Packet, Path, Step};

use crate::load::{Body, Sent};

/// A packet that left, and how long after the start.
pub type Left = (Duration, Packet<Body>);

/// How punctual the driver is: at each event, or once an hour.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Driver {
    Prompt,
    Late,
}

/// Sends a load and drains the path at its events; what left.
pub fn run(path: &mut Path<Body>, load: &[Sent], driver: Driver) -> Vec<Left> {
    let start = Instant::now();
    let mut out = Vec::new();
    let (mut now, mut number) = (start, 0);
    for sent in load {
        now += sent.gap;
        drain(path, start, now, driver, &mut out);
        path.push(now, sent.packet(number));
        number += u64::from(sent.segments);
    }
    drain(path, start, now + Duration::from_secs(1_000_000), driver, &mut out);
    assert_eq!(path.next_event(), None, "something is left");
    out
}

fn drain(path: &mut Path<Body>, start: Instant, until: Instant, driver: Driver, out: &mut Vec<Left>) {
    while let Some(at) = path.next_event().filter(|at| *at <= until) {
        let at = if driver == Driver::Late { until } else { at };
        while let Some((left, packet)) = path.poll(at) {
            assert!(left <= at, "left at a time that has not come");
            out.push((left - start, packet));
        }
    }
}

/// Sends a load at once to a prompt driver.
pub fn prompt(mut path: Path<Body>, load: &[Sent]) -> Vec<Left> {
    run(&mut path, load, Driver::Prompt)
}

/// The numbers of all segments, in the order in which they left.
pub fn numbers(out: &[Left]) -> Vec<u64> {
    let of = |(_, packet): &Left| packet.body.first..packet.body.first + u64::from(packet.body.segments);
    out.iter().flat_map(of).collect()
}

pub fn micros(count: u64) -> Duration {
    Duration::from_micros(count)
}

/// A rate for so many microseconds.
pub fn step(bits_per_second: u64, micros_long: u64) -> Step {
    Step { rate: Bitrate(bits_per_second), last: Span(micros(micros_long)) }
}
