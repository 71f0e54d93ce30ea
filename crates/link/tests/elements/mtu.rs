//! The largest packet that passes.

use std::time::Duration;

use howdah_link::{Element, Mtu, Path, TooLarge};

use crate::load::Sent;
use crate::run::{Driver, numbers, run};

/// A frame of that many bytes of IP.
fn frame(bytes: usize) -> Sent {
    Sent { gap: Duration::ZERO, segments: 1, full: bytes + 38, last: bytes + 38 }
}

#[test]
fn what_is_larger_is_dropped_and_reported_if_it_is_to_be() {
    let jumbo = Sent { segments: 5, last: 538, ..frame(9000) };
    let load = [frame(1500), frame(1501), jumbo, Sent::super_packet(Duration::ZERO, 3)];
    for (too_large, reports) in [(TooLarge::Reported, 2), (TooLarge::Dropped, 0)] {
        let mut path = Path::new().then(Mtu::new(1500, too_large));
        let out = run(&mut path, &load, Driver::Prompt);
        // Of the jumbo frames only the last one, which is short.
        assert_eq!(numbers(&out), [0, 6, 7, 8, 9]);
        assert_eq!(path.counters().dropped.packets, 5);
        let refused: Vec<_> = std::iter::from_fn(|| path.refused()).collect();
        assert_eq!(refused.len(), reports);
        assert!(refused.iter().all(|refused| refused.mtu == 1500 && refused.packet.frame_bytes > 1538));
    }
}

#[test]
fn who_never_asks_what_was_refused_pays_no_memory_for_it() {
    let mut path = Path::new().then(Mtu::new(1500, TooLarge::Reported));
    run(&mut path, &[frame(9000); 1000], Driver::Prompt);
    assert_eq!(std::iter::from_fn(|| path.refused()).count(), 64);
}
