//! What every element promises, alone and after others.

use std::collections::HashMap;

use howdah_link::loss::{Bursts, Independent, Loss};
use howdah_link::queue::CoDel;
use howdah_link::rate::{Opportunities, Steps};
use howdah_link::{
    Corruption, Delay, DropTail, Duplication, Element, Jitter, Mtu, Outages, Path, Rate, Reordering, TooLarge,
};
use proptest::prelude::*;

use crate::load::{Body, load, sizes};
use crate::run::{Driver, Left, micros, numbers, run, step};

/// How many kinds there are.
const KINDS: u8 = 14;
/// Those after which order is another.
const OVERTAKING: [u8; 2] = [9, 10];
/// The one that makes packets.
const DUPLICATION: u8 = 11;

/// A path with one more element of that kind.
fn then(path: Path<Body>, kind: u8, seed: u64) -> Path<Body> {
    match kind {
        0 => path.then(Loss::new(Independent::new(0.1, seed))),
        1 => path.then(Loss::new(Bursts::averaging(0.1, 5.0, seed))),
        2 => path.then(Rate::new(100_000_000, DropTail::bytes(20_000))),
        3 => path.then(Rate::new(1_000_000_000, DropTail::packets(50))),
        4 => path.then(Rate::new(50_000_000, CoDel::with(micros(500), micros(2000), 50_000))),
        5 => path.then(Rate::paced(steps(), DropTail::bytes(30_000))),
        6 => path.then(Rate::paced(Opportunities::new(vec![0, 1, 1, 3, 7]), DropTail::packets(20))),
        7 => path.then(Delay::new(micros(700))),
        8 => path.then(Jitter::new(micros(300), seed)),
        9 => path.then(Jitter::new(micros(300), seed).overtaking()),
        10 => path.then(Reordering::new(0.1, micros(500), seed)),
        DUPLICATION => path.then(Duplication::new(0.1, seed)),
        12 => path.then(Corruption::new(0.1, seed)),
        13 => path.then(Mtu::new(1000, TooLarge::Dropped)),
        _ => path.then(Outages::new(micros(1000), micros(3000))),
    }
}

fn steps() -> Steps {
    Steps::new(vec![step(10000000, 2000), step(0, 1000), step(200000000, 500)])
}

fn path(kinds: &[u8], seed: u32) -> Path<Body> {
    let seed_of = |place: usize| u64::from(seed) + place as u64;
    kinds.iter().enumerate().fold(Path::new(), |path, (place, kind)| then(path, *kind, seed_of(place)))
}

fn kinds() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![(0..=KINDS).prop_map(|kind| vec![kind]), prop::collection::vec(0..=KINDS, 0..6)]
}

/// No segment is invented, changes its size or its place in its packet, or is there twice if nothing copies.
fn check_segments(out: &[Left], sizes: &[usize], copies: bool) {
    let mut times: HashMap<u64, u32> = HashMap::new();
    for (_, packet) in out {
        assert_eq!(packet.segments, packet.body.segments);
        let first = packet.body.first as usize;
        let of = &sizes[first..first + packet.segments as usize];
        assert_eq!(packet.bytes, of.iter().sum::<usize>(), "{packet:?}");
        assert!(of[..of.len() - 1].iter().all(|bytes| *bytes == packet.frame_bytes), "{packet:?}");
        assert_eq!(packet.last_frame_bytes(), of[of.len() - 1]);
        (0..packet.segments).for_each(|n| *times.entry((first as u64) + u64::from(n)).or_default() += 1);
    }
    assert!(copies || times.values().all(|times| *times == 1));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_made_from_nothing_and_nothing_vanishes(load in load(), kinds in kinds(), seed: u32) {
        let mut path = path(&kinds, seed);
        let out = run(&mut path, &load, Driver::Prompt);
        for (name, count) in path.report().chain([("path", path.counters())]) {
            prop_assert_eq!(count.arrived + count.copied, count.left + count.dropped, "{}", name);
        }
        let total = sizes(&load);
        let (arrived, left) = (path.counters().arrived, path.counters().left);
        prop_assert_eq!((arrived.packets, arrived.bytes), (total.len() as u64, total.iter().sum::<usize>() as u64));
        prop_assert_eq!(left.packets, numbers(&out).len() as u64);
        prop_assert_eq!(left.bytes, out.iter().map(|(_, packet)| packet.bytes as u64).sum::<u64>());
        check_segments(&out, &total, kinds.contains(&DUPLICATION));
    }

    #[test]
    fn the_same_seed_gives_the_same_packets_however_late_it_is_polled(load in load(), kinds in kinds(), seed: u32) {
        let prompt = run(&mut path(&kinds, seed), &load, Driver::Prompt);
        let late = run(&mut path(&kinds, seed), &load, Driver::Late);
        prop_assert_eq!(prompt, late);
    }

    #[test]
    fn what_leaves_leaves_in_the_order_of_time(load in load(), kinds in kinds(), seed: u32) {
        let out = run(&mut path(&kinds, seed), &load, Driver::Prompt);
        prop_assert!(out.is_sorted_by_key(|(at, _)| *at));
        if !kinds.iter().any(|kind| OVERTAKING.contains(kind)) {
            prop_assert!(numbers(&out).is_sorted(), "overtaken without reordering");
        }
    }

    #[test]
    fn what_is_held_is_what_came_and_has_not_gone(load in load(), kinds in kinds(), seed: u32) {
        let mut path = path(&kinds, seed);
        let start = std::time::Instant::now();
        let (mut now, mut number) = (start, 0);
        for sent in &load {
            now += sent.gap;
            path.push(now, sent.packet(number));
            number += u64::from(sent.segments);
            // A packet out for every packet in: some stay on their way.
            path.poll(now);
            let inside: u64 = path.elements().map(|element| element.queued().packets).sum();
            // Besides, what has passed them all and was not polled.
            prop_assert!(inside <= path.queued().packets);
        }
        while let Some(at) = path.next_event() {
            while path.poll(at).is_some() {}
        }
        prop_assert_eq!(path.queued().packets, 0);
        prop_assert!(path.elements().all(|element| element.queued().packets == 0));
    }
}
