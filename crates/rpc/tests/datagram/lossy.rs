//! Where fragments are lost: no blackout, and never a second without progress.

use std::time::Duration;

use howdah_link::loss::Independent;
use howdah_link::{FragmentLoss, Path, Reassembly};
use howdah_rpc::client::datagram::{Advice, Settings};

use crate::clean::line;
use crate::reader::Reader;
use crate::server::{Message, Server};
use crate::simulation::Simulation;

const FILE: usize = 50 << 20;
const DELAY: Duration = Duration::from_micros(100);

/// A switched line on which each fragment is lost with that probability.
fn losing(bits: u64, probability: f64, seed: u64) -> Path<Message> {
    line(bits, 256 << 10, DELAY)
        .then(FragmentLoss::new(Independent::new(probability, seed)))
        .then(Reassembly::linux())
}

fn settings(first_transfer: Option<usize>) -> Settings {
    Settings { first_transfer, receive_room: 8 << 20, ..Settings::default() }
}

#[test]
fn lost_fragments_never_black_a_reader_out() {
    for bits in [100_000_000, 1_000_000_000] {
        for first in [None, Some(8 << 10), Some(32 << 10)] {
            for at_once in [4, 16, 64] {
                let server = Server::quick(Duration::from_micros(30));
                let (out, back) = (losing(bits, 0.001, 1), losing(bits, 0.001, 2));
                let mut simulation = Simulation::new(settings(first), out, back, server);
                let mut reader = Reader::new(FILE, at_once);
                let took = simulation.run(&mut reader, Duration::from_secs(600));
                let report = simulation.report();
                println!(
                    "{} Mb/s, {first:?}, {at_once} at once: {:.1} MB/s, longest gap {:?} at {:?}, {} made smaller, {} sent again, transfer {} after {} drops, {:?}",
                    bits / 1_000_000,
                    FILE as f64 / took.as_secs_f64() / 1e6,
                    reader.longest_gap,
                    reader.longest_gap_at,
                    reader.given_back,
                    simulation.retransmissions(),
                    report.transfer,
                    report.transfer_drops,
                    report.advice,
                );
                assert!(reader.longest_gap < Duration::from_secs(1), "nothing for {:?}", reader.longest_gap);
                assert!(reader.answered.values().all(|times| *times == 1));
                if first.is_some() {
                    assert_eq!(report.advice, Some(Advice::FragmentsLost));
                }
            }
        }
    }
}
