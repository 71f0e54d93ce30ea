//! Datagrams in fragments: what a lost fragment costs, and how a receiver's memory fills.

use std::time::{Duration, Instant};

use howdah_link::loss::Independent;
use howdah_link::{Element, Ethernet, FragmentLoss, Packet, Path, Reassembly};

use crate::load::Body;
use crate::run::micros;

/// Sends datagrams of these payloads, each so many microseconds after the one before; what arrived, and when.
fn run(path: &mut Path<Body>, load: impl IntoIterator<Item = (u64, usize)>) -> Vec<(Duration, Packet<Body>)> {
    let start = Instant::now();
    let mut now = start;
    let mut out = Vec::new();
    for (first, (gap, payload)) in (0..).zip(load) {
        now += micros(gap);
        path.push(now, Ethernet { mtu: 1500 }.datagram(payload, Body { first, segments: 1, damaged: false }));
        out.extend(std::iter::from_fn(|| path.poll(now)).map(|(at, packet)| (at - start, packet)));
    }
    out
}

#[test]
fn a_datagram_of_many_fragments_is_lost_more_often() {
    let mut path = Path::new()
        .then(FragmentLoss::new(Independent::new(0.001, 11)))
        .then(Reassembly::new(usize::MAX, micros(1)));
    let out = run(&mut path, (0..20_000).map(|_| (100_000, 32_896)));
    let lost = 1.0 - out.len() as f64 / 20_000.0;
    // 1 - 0.999^23
    assert!((0.019..0.027).contains(&lost), "{lost} lost");
}

#[test]
fn incomplete_datagrams_black_out_all_fragmented_ones_but_not_the_whole_ones() {
    // What was measured: 1500 datagrams of 32 KiB a second, 0.1 % of fragments lost.
    let mut path = Path::new().then(FragmentLoss::new(Independent::new(0.001, 1))).then(Reassembly::linux());
    let out = run(&mut path, (0..20 * 1500).flat_map(|_| [(333, 32_768 + 128), (333, 128)]));
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
