//! Drop-tail: who finds it full is dropped.

use std::time::Duration;

use howdah_link::{DropTail, Element, Path, Rate};

use crate::load::Sent;
use crate::run::{Driver, numbers, run};

#[test]
fn a_full_queue_drops_who_comes_last() {
    // One is on the line, three wait.
    let load = [Sent::frame(Duration::ZERO); 6];
    for queue in [DropTail::bytes(3 * 1538), DropTail::packets(3)] {
        let mut path = Path::new().then(Rate::new(10_000_000, queue));
        let out = run(&mut path, &load, Driver::Prompt);
        assert_eq!(numbers(&out), [0, 1, 2, 3]);
        assert_eq!(path.counters().dropped.packets, 2);
    }
}

#[test]
fn of_a_super_packet_it_takes_the_segments_that_fit() {
    let load =
        [Sent::frame(Duration::ZERO), Sent::super_packet(Duration::ZERO, 10), Sent::frame(Duration::ZERO)];
    for queue in [DropTail::bytes(3 * 1538 + 1000), DropTail::packets(3)] {
        let mut path = Path::new().then(Rate::new(10_000_000, queue));
        let out = run(&mut path, &load, Driver::Prompt);
        assert_eq!(numbers(&out), [0, 1, 2, 3]);
        assert_eq!(path.counters().dropped.packets, 8);
    }
}

#[test]
fn what_waits_is_seen() {
    let mut path = Path::new().then(Rate::new(10_000_000, DropTail::bytes(usize::MAX)));
    let now = std::time::Instant::now();
    path.push(now, Sent::super_packet(Duration::ZERO, 10).packet(0));
    for sent in 0..=10 {
        let at = now + sent * Duration::from_nanos(1_230_400);
        while path.poll(at).is_some() {}
        let queued = path.elements().next().expect("the line").queued();
        assert_eq!((queued.packets, queued.bytes), (10 - u64::from(sent), 1538 * (10 - u64::from(sent))));
    }
}
