//! Loss, bursts, duplication, corruption, reordering: as often as they say, segment by segment.

use std::time::Duration;

use howdah_link::loss::{Bursts, Chance, Independent, Loss};
use howdah_link::{Corruption, Duplication, Element, Path, Reordering};
use proptest::prelude::*;

use crate::load::{Body, Sent, load, singly};
use crate::run::{Driver, micros, numbers, prompt, run};

/// Single frames and super-packets, 450,000 segments in all.
fn mixed() -> Vec<Sent> {
    (0..20_000).map(|n| Sent::super_packet(micros(500), if n % 2 == 0 { 1 } else { 44 })).collect()
}

/// Is a count of hits in so many draws within four standard deviations of what that probability makes likely?
fn is_likely(hits: u64, draws: u64, probability: f64) -> bool {
    let (draws, hits) = (draws as f64, hits as f64);
    let deviation = (draws * probability * (1.0 - probability)).sqrt();
    (hits - draws * probability).abs() <= 4.0 * deviation
}

#[test]
fn as_many_are_hit_as_chance_makes_likely() {
    let load = mixed();
    for (seed, probability) in [(1, 0.000_1), (2, 0.01), (3, 0.3), (4, 1.0), (5, 0.0)] {
        let mut path = Path::new()
            .then(Duplication::new(probability, seed))
            .then(Corruption::new(probability, seed + 10))
            .then(Reordering::new(probability, micros(1), seed + 20))
            .then(Loss::new(Independent::new(probability, seed + 30)));
        run(&mut path, &load, Driver::Prompt);
        let counters: Vec<_> = path.report().map(|(_, counters)| counters).collect();
        let hits = [
            counters[0].copied.packets,
            counters[1].corrupted.packets,
            counters[2].held_back.packets,
            counters[3].dropped.packets,
        ];
        for (element, hits) in counters.iter().zip(hits) {
            let draws = element.arrived.packets;
            assert!(is_likely(hits, draws, probability), "{hits} of {draws} at {probability}");
        }
    }
}

#[test]
fn bursts_lose_as_much_and_as_many_in_a_row_as_they_say() {
    for (seed, loss, length) in [(1, 0.01, 4.0), (2, 0.1, 10.0), (3, 0.001, 1.0), (4, 0.3, 2.0)] {
        let mut rule = Bursts::averaging(loss, length, seed);
        assert!((rule.average() - loss).abs() < 1e-9, "{} in the long run", rule.average());
        let (mut lost, mut bursts, mut before) = (0u64, 0u64, false);
        const DRAWS: u64 = 4_000_000;
        for _ in 0..DRAWS {
            let now = rule.loses_next();
            lost += u64::from(now);
            bursts += u64::from(now && !before);
            before = now;
        }
        let mean = lost as f64 / bursts as f64;
        // Bursts are what is independent: their number spreads, and their lengths do.
        let spread = 6.0 / (bursts as f64).sqrt();
        assert!((mean / length - 1.0).abs() < spread, "{mean} in a row and not {length}");
        let part = lost as f64 / DRAWS as f64;
        assert!((part / loss - 1.0).abs() < 1.5 * spread, "{part} lost and not {loss}");
    }
}

#[test]
fn elliott_loses_in_both_states() {
    let mut rule = Bursts::new(0.01, 0.25, 7).losing(0.001, 0.8);
    let average = rule.average();
    let lost = (0..1_000_000).filter(|_| rule.loses_next()).count() as f64 / 1e6;
    assert!((lost / average - 1.0).abs() < 0.05, "{lost} lost, {average} expected");
}

#[test]
fn a_super_packet_loses_single_segments() {
    let load: Vec<_> = (0..100).map(|_| Sent::super_packet(micros(500), 40)).collect();
    let out = prompt(Path::new().then(Loss::new(Independent::new(0.01, 3))), &load);
    // Some 40 segments of 4000 are lost, each from another super-packet as a rule: it is cut in two there.
    let lost = 4000 - numbers(&out).len();
    assert!((20..60).contains(&lost), "{lost} lost");
    assert!(out.len() <= 100 + lost, "survivors stay together: {} packets", out.len());
}

/// What is hit, by a path of one element.
fn hit(kind: usize, seed: u64, load: &[Sent]) -> Vec<u64> {
    let path = match kind {
        0 => Path::new().then(Loss::new(Independent::new(0.1, seed))),
        1 => Path::new().then(Loss::new(Bursts::averaging(0.1, 3.0, seed))),
        2 => Path::new().then(Duplication::new(0.1, seed)),
        3 => Path::new().then(Reordering::new(0.1, Duration::from_secs(60), seed)),
        _ => return damaged(Path::new().then(Corruption::new(0.1, seed)), load),
    };
    numbers(&prompt(path, load))
}

fn damaged(path: Path<Body>, load: &[Sent]) -> Vec<u64> {
    let out = prompt(path, load);
    out.iter().filter(|(_, packet)| packet.body.damaged).map(|(_, packet)| packet.body.first).collect()
}

proptest! {
    #[test]
    fn it_is_the_same_whether_segments_travel_together_or_singly(load in load(), kind in 0usize..5, seed: u32) {
        let (together, apart) = (hit(kind, seed.into(), &load), hit(kind, seed.into(), &singly(&load)));
        prop_assert_eq!(together, apart);
    }
}

#[test]
fn plain_bytes_have_one_bit_flipped() {
    use howdah_link::{Packet, Random, Segments};
    let mut bytes = vec![0u8; 100];
    bytes.corrupt(&mut Random::new(1));
    assert_eq!(bytes.iter().map(|byte| byte.count_ones()).sum::<u32>(), 1);
    let mut path = Path::new().then(Corruption::new(1.0, 1));
    let now = std::time::Instant::now();
    path.push(now, Packet::whole(138, vec![0u8; 100]));
    let (_, packet) = path.poll(now).expect("it passes");
    assert!(packet.body.iter().any(|byte| *byte != 0));
}

#[test]
fn what_is_held_back_is_overtaken() {
    let load: Vec<_> = (0..1000).map(|_| Sent::frame(micros(100))).collect();
    let mut path = Path::new().then(Reordering::new(0.2, micros(500), 5));
    let out = run(&mut path, &load, Driver::Prompt);
    assert!(!numbers(&out).is_sorted());
    assert!(is_likely(path.counters().held_back.packets, 1000, 0.2));
}
