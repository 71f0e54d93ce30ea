//! UDP beside TCP on this host: every way to read and its floor in turn, several times, since a processor's pace changes
//! from one second to the next.
#![allow(clippy::print_stdout, reason = "the table is its purpose")]

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context;

use super::floor;
use super::reader::{self, Seen};
use super::run::{FILE, WAYS, show};

/// Transfers that floors are measured for, in bytes, as the ways have them.
const TRANSFERS: [usize; 2] = [8 << 10, 32 << 10];

/// Measures and prints.
pub fn run(address: SocketAddr, runs: usize, size: u64) -> anyhow::Result<()> {
    let mut seen: Vec<Vec<Seen>> = WAYS.iter().map(|_| Vec::new()).collect();
    let mut floors: Vec<[Vec<Duration>; 2]> = TRANSFERS.iter().map(|_| Default::default()).collect();
    let data = vec![0x5a; size as usize];
    for _ in 0..runs {
        for ((name, query), seen) in WAYS.iter().zip(&mut seen) {
            let url = format!("nfs://{address}/memory?{query}");
            seen.push(reader::read(&url, FILE, size).context(*name)?);
        }
        for (transfer, [tcp, udp]) in TRANSFERS.iter().zip(&mut floors) {
            tcp.push(floor::tcp(&data, *transfer)?);
            udp.push(floor::udp(&data, *transfer)?);
        }
    }
    for (ways, seen) in WAYS.chunks(2).zip(seen.chunks_mut(2)) {
        let [tcp, udp] = seen else { continue };
        let (tcp, udp) = (median(tcp), median(udp));
        show(&format!("loopback: {}", ways[0].0), 1.0, tcp, size);
        show(&format!("loopback: {}", ways[1].0), ratio(udp.took, tcp.took), udp, size);
    }
    for (transfer, [tcp, udp]) in TRANSFERS.iter().zip(&mut floors) {
        for times in [&mut *tcp, &mut *udp] {
            times.sort_unstable();
        }
        let (tcp, udp) = (tcp[tcp.len() / 2], udp[udp.len() / 2]);
        for (name, time) in [("TCP", tcp), ("UDP", udp)] {
            println!(
                "{:<28} {:>8.4} {:>8.2} {:>8.3}",
                format!("floor: {name}, {} KiB", transfer >> 10),
                time.as_secs_f64(),
                size as f64 / 1e6 / time.as_secs_f64(),
                ratio(time, tcp)
            );
        }
    }
    Ok(())
}

/// That of the median time, with what all of them sent again.
fn median(seen: &mut [Seen]) -> &Seen {
    seen.sort_unstable_by_key(|seen| seen.took);
    let again = seen.iter().map(|seen| seen.retransmissions).sum();
    let middle = &mut seen[seen.len() / 2];
    middle.retransmissions = again;
    middle
}

fn ratio(time: Duration, other: Duration) -> f64 {
    time.as_secs_f64() / other.as_secs_f64()
}
