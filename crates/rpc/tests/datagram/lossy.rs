//! Where fragments are lost: no blackout, and never a second without progress.

use std::time::Duration;

use howdah_link::loss::Independent;
use howdah_link::{FragmentLoss, Path, Reassembly};
use howdah_rpc::client::datagram::{Advice, Settings};
use howdah_rpc::simulation::{Reader, Server, SimulatedMessage};

use crate::clean::line;
use crate::setup::simulation;

const FILE: usize = 50 << 20;
const DELAY: Duration = Duration::from_micros(100);

/// A switched line on which each fragment is lost with that probability.
fn losing(bits: u64, probability: f64, seed: u64) -> Path<SimulatedMessage> {
    line(bits, 256 << 10, DELAY)
        .then(FragmentLoss::new(Independent::new(probability, seed)))
        .then(Reassembly::linux())
}

fn settings(first_transfer: Option<usize>) -> Settings {
    Settings { first_transfer, receive_room: 8 << 20, ..Settings::default() }
}

/// Reads a file; the longest time without progress.
fn longest_gap(bits: u64, first: Option<usize>, at_once: usize) -> Duration {
    let server = Server::quick(Duration::from_micros(30));
    let (out, back) = (losing(bits, 0.001, 1), losing(bits, 0.001, 2));
    let mut simulation = simulation(settings(first), out, back, server);
    let mut reader = Reader::new(FILE, at_once);
    let took = simulation.run(&mut reader, Duration::from_secs(600));
    let report = simulation.report();
    println!(
        "{} Mb/s, {first:?}, {at_once} at once: {:.1} MB/s, longest gap {:?}, {} made smaller, {} sent again, {:?}",
        bits / 1_000_000,
        FILE as f64 / took.as_secs_f64() / 1e6,
        reader.longest_gap,
        reader.given_back,
        simulation.retransmissions(),
        report.advice,
    );
    assert!(reader.answered.values().all(|times| *times == 1));
    if first.is_some() {
        assert_eq!((report.advice, report.transfer), (Some(Advice::FragmentsLost), 1024));
    }
    reader.longest_gap
}

#[test]
fn lost_fragments_never_black_a_reader_out() {
    for (bits, first) in [
        (100_000_000, None),
        (100_000_000, Some(8 << 10)),
        (100_000_000, Some(32 << 10)),
        (1_000_000_000, Some(32 << 10)),
    ] {
        for at_once in [16, 64] {
            let gap = longest_gap(bits, first, at_once);
            assert!(gap < Duration::from_secs(1), "nothing for {gap:?}");
        }
    }
}

#[test]
fn with_few_calls_at_once_the_timer_bounds_the_wait() {
    // All four can be lost: then nothing but the timer notices, whose floor is a second.
    let gap = longest_gap(100_000_000, Some(32 << 10), 4);
    assert!(gap < Duration::from_millis(1500), "nothing for {gap:?}");
}
