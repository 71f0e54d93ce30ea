//! The same floor over a line of the laboratory, as the plan `sockets-2004` has three of: what a second of the server's processor
//! moves over UDP beside TCP, by transfer and by packet, when nothing but system calls is left of a server. What a server saves
//! in its own thread others may pay: TCP sends much of what it has when acknowledgements come, in whoever brings them. So
//! what all threads take, the line's too, stands beside.
#![allow(clippy::print_stdout, reason = "the table is its purpose")]

use std::fs::File;
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use anyhow::Context;

use super::super::figures::Spread;
use super::super::link::Scene;
use super::floor::{self, Job, Took};
use xtask::clock::ProcessClock;

/// Bytes of each measurement.
const SIZE: usize = 192 << 20;
/// What the server has: more than the processor's caches hold.
const DATA: usize = 64 << 20;
/// Calls in flight: with the largest transfers less than the line's queue holds.
const IN_FLIGHT: usize = 16;

/// A way to read: its name, over what, bytes of a call.
type Way = (&'static str, Over, usize);
const WAYS: [Way; 5] = [
    ("TCP, 32 KiB", Over::Tcp, 32 << 10),
    ("TCP, 32 KiB, without a copy", Over::TcpFromFile, 32 << 10),
    ("UDP, 8 KiB", Over::Udp, 8 << 10),
    ("UDP, 32 KiB", Over::Udp, 32 << 10),
    ("UDP, 56 KiB", Over::Udp, 56 << 10),
];

#[derive(Debug, Clone, Copy)]
enum Over {
    Tcp,
    TcpFromFile,
    Udp,
}

/// Measures and prints.
pub fn run(runs: usize) -> anyhow::Result<()> {
    println!(
        "\nBare system calls over 1 Gb/s and 200 us, {} MiB; medians of {runs} and their range; MB for each second of processor time",
        SIZE >> 20
    );
    println!(
        "{:<8}{:<32}{:>9}{:>24}{:>10}{:>26}",
        "packets", "", "MB/s", "of the server's thread", "of TCP's", "of all threads"
    );
    let data = vec![0x5a; DATA];
    let mut file = tempfile::tempfile().context("making a file")?;
    file.write_all(&data).context("filling a file")?;
    for packet in [1500, 9000] {
        let path = format!("rate = '1Gbit'\nrtt = '200us'\nqueue = '1MiB'\nmtu = {packet}");
        let scene = Scene::new(&path, None, 1)?;
        let mut rows: [Vec<Row>; WAYS.len()] = Default::default();
        for _ in 0..runs {
            for (way, rows) in WAYS.iter().zip(&mut rows) {
                rows.push(measure(&scene, way, &data, &file).context(way.0)?);
            }
        }
        show(packet, &rows)?;
    }
    Ok(())
}

/// MB/s, and MB for each second of processor time.
struct Row {
    rate: f64,
    by_server: f64,
    by_all: f64,
}

fn measure(scene: &Scene, (_, over, transfer): &Way, data: &[u8], file: &File) -> anyhow::Result<Row> {
    // A transfer that does not divide what there is would run over its end.
    let data = &data[..data.len() / transfer * transfer];
    let job =
        Job { data, file: None, size: SIZE / transfer * transfer, transfer: *transfer, in_flight: IN_FLIGHT };
    let all = ProcessClock::of(std::process::id())?;
    let before = all.now()?;
    let took = match over {
        Over::Tcp => through(scene, &job),
        Over::TcpFromFile => through(scene, &Job { file: Some(file), ..job }),
        Over::Udp => floor::datagrams(&scene.socket("client")?, &scene.socket("server")?, &job),
    }?;
    let megabytes = |time: Duration| job.size as f64 / 1e6 / time.as_secs_f64();
    let by_all = megabytes(all.now()?.saturating_sub(before));
    Ok(Row { rate: megabytes(took.time), by_server: megabytes(took.server), by_all })
}

fn through(scene: &Scene, job: &Job<'_>) -> anyhow::Result<Took> {
    let listener = scene.on("server", |address| TcpListener::bind(SocketAddr::new(address, 0)))?;
    let address = listener.local_addr()?;
    let client = scene.on("client", |_| TcpStream::connect(address))?;
    let (server, _) = listener.accept().context("accepting")?;
    floor::stream(client, server, job)
}

fn show(packet: u32, rows: &[Vec<Row>; WAYS.len()]) -> anyhow::Result<()> {
    let of = |rows: &[Row], figure: fn(&Row) -> f64| {
        Spread::of(&rows.iter().map(figure).collect::<Vec<_>>()).context("no run")
    };
    let tcp = of(&rows[1], |row| row.by_server)?.median;
    for ((name, ..), rows) in WAYS.iter().zip(rows) {
        let (rate, server, all) =
            (of(rows, |row| row.rate)?, of(rows, |row| row.by_server)?, of(rows, |row| row.by_all)?);
        let shown =
            |spread: &Spread| format!("{:.0} ({:.0}..{:.0})", spread.median, spread.least, spread.most);
        println!(
            "{packet:<8}{name:<32}{:>9.1}{:>24}{:>10.2}{:>26}",
            rate.median,
            shown(&server),
            server.median / tcp,
            shown(&all)
        );
    }
    Ok(())
}
