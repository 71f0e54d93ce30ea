//! Where nothing is lost, congestion avoidance costs nothing: no call is sent twice, and the line is full.

use std::time::Duration;

use howdah_link::{Delay, DropTail, Duplication, Jitter, Path, Rate, Reordering};
use howdah_rpc::client::datagram::Settings;
use howdah_rpc::simulation::{Reader, Server, SimulatedMessage};

use crate::setup::simulation;

const FILE: usize = 50 << 20;

/// A line of a switched network: the rate, the port's buffer, one way's delay.
pub fn line(bits_per_second: u64, buffer: usize, delay: Duration) -> Path<SimulatedMessage> {
    Path::new().then(Rate::new(bits_per_second, DropTail::bytes(buffer))).then(Delay::new(delay))
}

fn check(
    transfer: Option<usize>,
    ideal: usize,
    buffer: usize,
    bits: u64,
    delay: Duration,
    at_once: usize,
) -> f64 {
    let settings = Settings { first_transfer: transfer, receive_room: 8 << 20, ..Settings::default() };
    let server = Server::quick(Duration::from_micros(30));
    let back = line(bits, buffer, delay);
    let mut simulation = simulation(settings, line(bits, buffer, delay), back, server);
    let mut reader = Reader::new(FILE, at_once);
    let took = simulation.run(&mut reader, Duration::from_secs(600));
    let ideal = Reader::ideal(FILE, ideal, bits as f64);
    let report = simulation.report();
    let times = took.as_secs_f64() / ideal.as_secs_f64();
    println!(
        "{transfer:?} {at_once} at once, {buffer} B of buffer: {took:?} of {ideal:?}, {times:.3}, {report:?}"
    );
    assert_eq!(simulation.retransmissions(), 0, "{report:?}");
    times
}

#[test]
fn a_file_over_100_megabits_at_8_and_32_kilobytes() {
    for transfer in [8 << 10, 32 << 10] {
        for at_once in [2, 16, 64] {
            for buffer in [128 << 10, 512 << 10] {
                let times =
                    check(Some(transfer), transfer, buffer, 100_000_000, Duration::from_micros(100), at_once);
                assert!(times < 1.05, "{times} of the line's time");
            }
        }
    }
}

#[test]
fn a_file_over_a_gigabit_and_over_a_long_path() {
    for (delay, buffer) in [(Duration::from_micros(50), 256 << 10), (Duration::from_millis(5), 1 << 20)] {
        let times = check(Some(32 << 10), 32 << 10, buffer, 1_000_000_000, delay, 64);
        // Half a second in all, of which the window takes some round trips to open.
        assert!(times < 1.2, "{times} of the line's time");
    }
}

#[test]
fn the_transfer_size_grows_on_a_clean_path() {
    let times = check(None, 32 << 10, 256 << 10, 100_000_000, Duration::from_micros(100), 16);
    // The first megabyte goes in packets of 1 KiB, the next eight in datagrams of 8 KiB.
    assert!(times < 1.05, "{times} of the line's time");
}

#[test]
fn jitter_alone_makes_nobody_send_twice() {
    let settings = Settings { first_transfer: Some(8192), ..Settings::default() };
    let path = |seed| {
        line(100_000_000, 1 << 20, Duration::from_millis(2))
            .then(Jitter::new(Duration::from_millis(80), seed))
    };
    let mut simulation = simulation(settings, path(1), path(2), Server::quick(Duration::from_micros(100)));
    let mut reader = Reader::new(10 << 20, 16);
    reader.getattr_every = 4;
    simulation.run(&mut reader, Duration::from_secs(600));
    assert_eq!(simulation.retransmissions(), 0, "{:?}", simulation.report());
}

#[test]
fn nor_do_packets_that_overtake_others_or_come_twice() {
    let settings = Settings { first_transfer: Some(8192), receive_room: 8 << 20, ..Settings::default() };
    let path = |seed| {
        line(100_000_000, 1 << 20, Duration::from_millis(1))
            .then(Reordering::new(0.05, Duration::from_millis(20), seed))
            .then(Duplication::new(0.02, seed + 1))
    };
    let mut simulation = simulation(settings, path(1), path(11), Server::quick(Duration::from_micros(100)));
    let mut reader = Reader::new(20 << 20, 16);
    reader.getattr_every = 4;
    simulation.run(&mut reader, Duration::from_secs(600));
    let report = simulation.report();
    assert_eq!(simulation.retransmissions(), 0, "{report:?}");
    assert!(report.unknown_replies > 100, "{report:?}");
    assert!(reader.answered.values().all(|times| *times == 1));
}
