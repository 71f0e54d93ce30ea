//! Lines: exact in the long run, whole frames one after another, never a super-packet as one lump.

use std::time::Duration;

use howdah_link::rate::{Opportunities, Steps};
use howdah_link::{DropTail, Path, Random, Rate, RateSpec};
use proptest::prelude::*;

use crate::load::{Body, Sent, load, singly, sizes};
use crate::run::{micros, numbers, prompt, step};

fn line(bits_per_second: u64) -> Path<Body> {
    Path::new().then(Rate::new(bits_per_second, DropTail::bytes(usize::MAX)))
}

/// So many packets at once, of all sizes.
fn busy(count: usize) -> Vec<Sent> {
    let mut random = Random::new(7);
    let mut size = || 84 + random.index(1455);
    let segments = |n| if n % 3 == 0 { 40 } else { 1 };
    (0..count)
        .map(|n| {
            let full = size();
            Sent { gap: Duration::ZERO, segments: segments(n), full, last: full.min(size()) }
        })
        .collect()
}

#[test]
fn a_busy_line_delivers_its_rate() {
    let load = busy(20_000);
    let bits = sizes(&load).iter().sum::<usize>() as f64 * 8.0;
    for rate in [9_600, 999_983, 100_000_000, 2_656_000_000, 10_000_000_000, 99_999_999_977] {
        let out = prompt(line(rate), &load);
        let took = out.last().expect("all of them").0.as_secs_f64();
        let seen = bits / took / rate as f64;
        assert!((seen - 1.0).abs() < 1e-6, "{seen} of {rate} b/s");
        assert_eq!(numbers(&out).len(), sizes(&load).len());
    }
}

#[test]
fn and_to_the_nanosecond() {
    // 100 frames of 1538 bytes at 10 Mb/s: the last bit of the last one leaves after 123.04 ms.
    let load: Vec<_> = (0..100).map(|_| Sent::frame(Duration::ZERO)).collect();
    assert_eq!(prompt(line(10_000_000), &load).last().expect("all of them").0, micros(123_040));
}

proptest! {
    #[test]
    fn a_line_is_never_faster_than_its_rate(load in load()) {
        let out = prompt(Path::new().then(Rate::new(10_000_000, DropTail::packets(60))), &load);
        for pair in out.windows(2) {
            // A nanosecond for what was rounded down before.
            let least = Duration::from_nanos(pair[1].1.bytes as u64 * 800 - 1);
            prop_assert!(pair[1].0 - pair[0].0 >= least);
        }
    }

    #[test]
    fn segments_that_travel_together_take_as_long_as_singly(load in load(), megabits in 1u64..20_000) {
        let end = |load: &[Sent]| prompt(line(megabits * 1_000_000), load).last().expect("all of them").0;
        let (together, apart) = (end(&load), end(&singly(&load)));
        prop_assert_eq!(together, apart);
    }
}

#[test]
fn a_super_packet_is_not_held_back_until_its_last_byte() {
    let load = [Sent::super_packet(Duration::ZERO, 44)];
    // 1.2304 ms for each segment at 10 Mb/s: they leave singly.
    let slow = prompt(line(10_000_000), &load);
    assert_eq!(slow.len(), 44);
    assert_eq!(slow[0].0, Duration::from_nanos(1_230_400));
    // 12.304 us for each at 1 Gb/s: eight in 100 us.
    let quick = prompt(line(1_000_000_000), &load);
    assert_eq!(quick.iter().map(|(_, packet)| packet.segments).collect::<Vec<_>>(), [8, 8, 8, 8, 8, 4]);
    assert_eq!(quick.last().expect("six").0, Duration::from_nanos(44 * 12_304));
    assert_eq!(prompt(line(10_000_000_000), &load).len(), 1, "54 us in all: not worth a cut");
}

#[test]
fn steps_are_exact_in_the_long_run_and_stand_still_in_between() {
    let steps = vec![step(10000000, 30000), step(0, 5000), step(333000000, 7000)];
    let average = RateSpec::Steps(steps.clone()).average().expect("a rate").0 as f64;
    let load = busy(20_000);
    let out = prompt(Path::new().then(Rate::paced(Steps::new(steps), DropTail::bytes(usize::MAX))), &load);
    let took = out.last().expect("all of them").0.as_secs_f64();
    let cycles = (took / 0.042).floor();
    assert!(cycles > 20.0);
    let bits = sizes(&load).iter().sum::<usize>() as f64 * 8.0;
    // A cycle that has begun carries more or less than its part.
    let tolerance = 1.0 / cycles;
    assert!((bits / took / average - 1.0).abs() < tolerance, "{} of {average}", bits / took);
    let still = |(at, _): &(Duration, _)| (30_000_001..35_000_000).contains(&(at.as_nanos() % 42_000_000));
    assert!(!out.iter().any(still), "something left while nothing passes");
}

#[test]
fn a_cycle_of_steps_carries_exactly_its_bits() {
    // 10 frames of 1250 bytes in the first step, 20 in the second.
    let steps = Steps::new(vec![step(10000000, 10000), step(100000000, 2000), step(0, 8000)]);
    let load: Vec<_> =
        (0..30 * 50).map(|_| Sent { full: 1250, last: 1250, ..Sent::frame(Duration::ZERO) }).collect();
    let out = prompt(Path::new().then(Rate::paced(steps, DropTail::bytes(usize::MAX))), &load);
    assert_eq!(out.last().expect("all of them").0, Duration::from_millis(49 * 20 + 12));
}

#[test]
fn a_trace_lets_1504_bytes_pass_each_time() {
    let RateSpec::Opportunities(stamps) = RateSpec::opportunities("0\n2\n2\n\n5\n").expect("a trace") else {
        panic!("a trace");
    };
    let trace = || Opportunities::new(stamps.clone());
    let line = || Path::new().then(Rate::paced(trace(), DropTail::bytes(usize::MAX)));
    let times = |load: &[Sent]| prompt(line(), load).iter().map(|(at, _)| at.as_millis()).collect::<Vec<_>>();
    // Frames of 1500 bytes, alone or together: one each time, and after the last stamp it begins again.
    assert_eq!(times(&[Sent::super_packet(Duration::ZERO, 9)]), [0, 2, 2, 5, 5, 7, 7, 10, 10]);
    // Two small ones share an opportunity; half of one is gone if nobody waits.
    let small = Sent { full: 738, last: 738, ..Sent::frame(Duration::ZERO) };
    assert_eq!(times(&[small; 5]), [0, 0, 2, 2, 2]);
    let late = Sent { gap: micros(2_500), ..small };
    assert_eq!(times(&[small, late, late]), [0, 5, 5]);
    // A larger one needs several.
    assert_eq!(times(&[Sent { full: 4038, last: 4038, ..small }]), [2]);
}

#[test]
fn a_trace_must_go_on() {
    for (text, why) in [("", "ends"), ("0\n0", "ends"), ("5\n3", "back in time"), ("1\ntwo", "line 2")] {
        let error = RateSpec::opportunities(text).expect_err("no trace");
        assert!(error.contains(why), "{error}");
    }
}
