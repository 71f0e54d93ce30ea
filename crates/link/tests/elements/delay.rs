//! Delay and jitter.

use std::time::Duration;

use howdah_link::{Delay, Jitter, Path};
use proptest::prelude::*;

use crate::load::{Sent, load};
use crate::run::{Driver, micros, numbers, prompt, run};

proptest! {
    #[test]
    fn a_delay_is_exact(load in load(), nanoseconds in 0u64..10_000_000_000) {
        let delay = Duration::from_nanos(nanoseconds);
        let out = run(&mut Path::new().then(Delay::new(delay)), &load, Driver::Late);
        let sent = load.iter().scan(Duration::ZERO, |at, sent| { *at += sent.gap; Some(*at) });
        let left: Vec<_> = out.iter().map(|(at, _)| *at).collect();
        prop_assert_eq!(left, sent.map(|at| at + delay).collect::<Vec<_>>());
    }
}

#[test]
fn jitter_is_spread_evenly_and_order_is_a_choice() {
    // Far apart, so that none waits for another.
    let load: Vec<_> = (0..10_000).map(|_| Sent::frame(micros(1000))).collect();
    let out = prompt(Path::new().then(Jitter::new(micros(1000), 1)), &load);
    let late: Vec<_> = out.iter().zip(1u64..).map(|((at, _), n)| *at - micros(1000 * n)).collect();
    assert!(late.iter().all(|late| *late <= micros(1000)));
    let mean = late.iter().sum::<Duration>() / 10_000;
    // Four standard deviations of a mean of 10,000.
    assert!((micros(488)..micros(512)).contains(&mean), "{mean:?}");
    let close: Vec<_> = (0..1000).map(|_| Sent::frame(micros(100))).collect();
    let kept = prompt(Path::new().then(Jitter::new(micros(1000), 1)), &close);
    assert!(numbers(&kept).is_sorted());
    let overtaken = prompt(Path::new().then(Jitter::new(micros(1000), 1).overtaking()), &close);
    assert!(!numbers(&overtaken).is_sorted());
}
