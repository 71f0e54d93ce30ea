//! What every element promises, and what each promises beside.

#![allow(clippy::disallowed_methods)] // Some instant is needed to start from.

use std::time::{Duration, Instant};

use howdah_link::loss::{Bursts, Chance, Independent, Loss};
use howdah_link::{
    Delay, DropTail, Duplication, Element, Ethernet, FragmentLoss, Jitter, Packet, Path, Rate, Reassembly,
    Reordering,
};
use proptest::prelude::*;

type Body = usize;

fn micros(count: u64) -> Duration {
    Duration::from_micros(count)
}

/// A path with one of every element, if it is asked for.
fn path(elements: u8, seed: u64) -> Path<Body> {
    let mut path = Path::new();
    if elements & 1 != 0 {
        path = path.then(Loss::new(Independent::new(0.1, seed)));
    }
    if elements & 2 != 0 {
        path = path.then(Rate::new(10_000_000, DropTail::bytes(20_000)));
    }
    if elements & 4 != 0 {
        path = path.then(Delay::new(micros(700)));
    }
    if elements & 8 != 0 {
        path = path.then(Jitter::new(micros(300), seed + 1));
    }
    if elements & 16 != 0 {
        path = path.then(Reordering::new(0.2, micros(500), seed + 2));
    }
    if elements & 32 != 0 {
        path = path.then(Duplication::new(0.2, seed + 3));
    }
    if elements & 64 != 0 {
        path = path.then(FragmentLoss::new(Bursts::new(0.05, 0.5, seed + 4)));
    }
    if elements & 128 != 0 {
        path = path.then(Reassembly::new(20_000, micros(2_000)));
    }
    path
}

/// Pushes datagrams (gap before it, payload) and drains the path at its events; what left, and when.
fn run(
    path: &mut Path<Body>,
    start: Instant,
    load: &[(u64, usize)],
    lazy: bool,
) -> Vec<(Duration, Packet<Body>)> {
    let mut out = Vec::new();
    let mut drain = |path: &mut Path<Body>, until: Instant| {
        while let Some(at) = path.next_event().filter(|at| *at <= until) {
            let at = if lazy { until } else { at };
            while let Some((left, packet)) = path.poll(at) {
                assert!(left <= at, "left at a time that has not come");
                out.push((left - start, packet));
            }
        }
    };
    let mut now = start;
    for (body, (gap, payload)) in load.iter().enumerate() {
        now += micros(*gap);
        drain(path, now);
        path.push(now, Ethernet { mtu: 1500 }.datagram(*payload, body));
    }
    drain(path, now + Duration::from_secs(3600));
    out
}

fn load() -> impl Strategy<Value = Vec<(u64, usize)>> {
    prop::collection::vec((0u64..2_000, 0usize..9_000), 1..80)
}

proptest! {
    #[test]
    fn nothing_is_made_from_nothing_and_nothing_vanishes(load in load(), elements: u8, seed: u32) {
        let mut path = path(elements, u64::from(seed));
        let out = run(&mut path, Instant::now(), &load, false);
        for (name, count) in path.report().chain([("path", path.counters())]) {
            prop_assert_eq!(count.arrived.packets + count.copied.packets, count.left.packets + count.dropped.packets,
                "{}", name);
        }
        prop_assert_eq!(path.counters().left.packets, out.len() as u64);
        prop_assert_eq!(path.next_event(), None);
    }

    #[test]
    fn the_same_seed_gives_the_same_packets_however_late_it_is_polled(load in load(), elements: u8, seed: u32) {
        let start = Instant::now();
        let seed = u64::from(seed);
        let prompt = run(&mut path(elements, seed), start, &load, false);
        let late = run(&mut path(elements, seed), start, &load, true);
        prop_assert_eq!(prompt, late);
    }

    #[test]
    fn what_leaves_leaves_in_the_order_of_time(load in load(), elements: u8, seed: u32) {
        let out = run(&mut path(elements, u64::from(seed)), Instant::now(), &load, false);
        prop_assert!(out.is_sorted_by_key(|(at, _)| *at));
        if elements & 16 == 0 {
            prop_assert!(out.is_sorted_by_key(|(_, packet)| packet.body), "overtaken without reordering");
        }
    }

    #[test]
    fn a_line_is_never_faster_than_its_rate(load in load()) {
        let mut path = Path::new().then(Rate::new(10_000_000, DropTail::packets(10)));
        let out = run(&mut path, Instant::now(), &load, false);
        for pair in out.windows(2) {
            let least = Duration::from_nanos(pair[1].1.bytes as u64 * 800);
            prop_assert!(pair[1].0 - pair[0].0 >= least);
        }
    }
}

#[test]
fn a_delay_is_exact() {
    let out = run(&mut path(4, 0), Instant::now(), &[(5, 100), (5, 100)], true);
    assert_eq!(out.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [micros(705), micros(710)]);
}

#[test]
fn a_busy_line_delivers_its_rate_to_the_byte() {
    // 100 frames of 1538 bytes at 10 Mb/s: the last bit of the last one leaves after 123.04 ms.
    let load: Vec<_> = (0..100).map(|_| (0, 1472)).collect();
    let mut path = Path::new().then(Rate::new(10_000_000, DropTail::bytes(usize::MAX)));
    let out = run(&mut path, Instant::now(), &load, false);
    assert_eq!(out.last().expect("all of them").0, micros(123_040));
}

#[test]
fn a_full_queue_drops_who_comes_last() {
    // One is on the line, three wait.
    let load: Vec<_> = (0..6).map(|_| (0, 1472)).collect();
    for queue in [DropTail::bytes(3 * 1538), DropTail::packets(3)] {
        let mut path = Path::new().then(Rate::new(10_000_000, queue));
        let out = run(&mut path, Instant::now(), &load, false);
        assert_eq!(out.iter().map(|(_, packet)| packet.body).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(path.counters().dropped.packets, 2);
    }
}

#[test]
fn chances_are_what_they_say() {
    let bursts = Bursts::new(0.01, 0.25, 7).losing(0.001, 0.8);
    let average = bursts.average();
    let rules: [(Box<dyn Chance>, f64); 3] = [
        (Box::new(Independent::new(0.001, 7)), 0.001),
        (Box::new(Independent::new(0.3, 7)), 0.3),
        (Box::new(bursts), average),
    ];
    for (mut rule, expected) in rules {
        let lost = (0..1_000_000).filter(|_| rule.loses_next()).count() as f64 / 1e6;
        // Ten standard deviations of a million independent draws; bursts spread wider, and are far from it too.
        let tolerance = 10.0 * (expected / 1e6f64).sqrt();
        assert!((lost - expected).abs() < tolerance, "{rule:?}: {lost} lost, {expected} expected");
    }
}

#[test]
fn bursts_are_as_long_as_they_say() {
    let mut rule = Bursts::new(0.001, 0.1, 3);
    let (mut lost, mut bursts, mut before) = (0, 0, false);
    for _ in 0..1_000_000 {
        let now = rule.loses_next();
        lost += u32::from(now);
        bursts += u32::from(now && !before);
        before = now;
    }
    let length = f64::from(lost) / f64::from(bursts);
    assert!((9.0..11.0).contains(&length), "bursts of {length} packets");
}

#[test]
fn some_packets_are_overtaken() {
    let load: Vec<_> = (0..1000).map(|_| (100, 100)).collect();
    let mut path = path(16, 5);
    let out = run(&mut path, Instant::now(), &load, false);
    assert!(!out.is_sorted_by_key(|(_, packet)| packet.body));
    let held = path.counters().held_back.packets;
    assert!((150..250).contains(&held), "{held} of 1000 held back");
}

#[test]
fn a_datagram_of_many_fragments_is_lost_more_often() {
    let load: Vec<_> = (0..20_000).map(|_| (100_000, 32_896)).collect();
    let mut path = Path::new()
        .then(FragmentLoss::new(Independent::new(0.001, 11)))
        .then(Reassembly::new(usize::MAX, micros(1)));
    let out = run(&mut path, Instant::now(), &load, false);
    let lost = 1.0 - out.len() as f64 / load.len() as f64;
    // 1 - 0.999^23
    assert!((0.019..0.027).contains(&lost), "{lost} lost");
}

#[test]
fn incomplete_datagrams_black_out_all_fragmented_ones_but_not_the_whole_ones() {
    // What was measured: 1500 datagrams of 32 KiB a second, 0.1 % of fragments lost.
    let mut path = Path::new().then(FragmentLoss::new(Independent::new(0.001, 1))).then(Reassembly::linux());
    let load: Vec<_> = (0..20 * 1500).flat_map(|_| [(333, 32_768 + 128), (333, 128)]).collect();
    let out = run(&mut path, Instant::now(), &load, false);
    let large: Vec<_> = out.iter().filter(|(_, packet)| packet.fragments > 1).collect();
    let last = large.last().expect("some pass at first").0;
    assert!(last > Duration::from_secs(1) && last < Duration::from_secs(6), "blacked out at {last:?}");
    let small_late = out.iter().filter(|(at, packet)| packet.fragments == 1 && *at > last).count();
    assert!(small_late > 10_000, "{small_late} small ones after the blackout began");
}

#[test]
fn a_blackout_ends_when_the_incomplete_ones_are_given_up() {
    let start = Instant::now();
    let packet = |missing| Packet { fragments: 6, missing, ..Packet::whole(9000, 0) };
    let mut memory = Reassembly::new(10_000, Duration::from_secs(30));
    for second in 0..70 {
        let at = start + Duration::from_secs(second);
        memory.push(at, packet(u32::from(second < 3)));
        let blackout = (1..30).contains(&second);
        let passed = memory.poll(at).is_some();
        // The first one fills the memory, and is given up after 30 s.
        assert_eq!(passed, second >= 3 && !blackout, "after {second} s");
    }
}
