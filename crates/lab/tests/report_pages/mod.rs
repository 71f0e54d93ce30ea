//! Result directories as a run would have left them, for tests of the report: made up, but shaped as measurements are.

#[allow(dead_code, reason = "the samples to be looked at need no such test")]
mod well_formed;

use std::path::Path;

use howdah_lab::plan::{Plan, seed};
use howdah_lab::record::{
    CommandRecord, ConnectionSample, LinkSample, Outcome, ResultDirectory, Row, RowFigure, SeriesLine, unit,
};
use howdah_workload::measure::{Machine, OtherLoad};

#[allow(unused_imports, reason = "the samples to be looked at need no such test")]
pub use well_formed::well_formed;

/// A plan with a figure of each kind, two claims and an origin's figure. `rtts` and `buffers` are its factors' levels.
pub fn plan(rtts: &[&str], buffers: &[&str]) -> String {
    let list =
        |values: &[&str]| values.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(", ");
    let level =
        |label: &&str| format!("[[factor.level]]\nlabel = {label:?}\nset.cell.hosts.server.sysctls.x = 1\n");
    let levels: String = buffers.iter().map(level).collect();
    let (rtt, buffer) = (rtts[rtts.len() / 2], buffers[0]);
    format!(
        r#"name = "buffers-2008"
title = "A fixed receive buffer against a long path"
origin = "A, 2008"
asks = """How much of a long path does one NFS client fill if the server's receive buffer is a fixed size?

The origin saw 43 MB/s of 117."""
seed = 2008
repetitions = 3
[cell.path]
rate = "1Gbit"
[cell.clients.main]
kind = "howdah"
workload = "write"
[[factor]]
name = "rtt"
key = "cell.path.rtt"
values = [{}]
[[factor]]
name = "receive buffer"
{levels}
[[origin_figure]]
where = {{ rtt = {rtt:?}, "receive buffer" = {buffer:?} }}
figure = "throughput"
value = 43.3
unit = "MB/s"
source = "linux-nfs, 2008"
[[figure]]
kind = "swept"
x = "rtt"
y = "throughput"
by = "receive buffer"
caption = "The fixed buffer falls with the round trip; the kernel's own does not."
[[figure]]
kind = "series"
where = {{ rtt = {rtt:?}, "receive buffer" = {buffer:?} }}
show = ["window", "flight", "receive buffer", "rtt", "queue"]
caption = "The window grows until the buffer stops it."
[[figure]]
kind = "latency"
where = {{ rtt = {rtt:?} }}
by = "receive buffer"
caption = "Calls wait longer where the window is small."
[[figure]]
kind = "bars"
where = {{ rtt = {rtt:?} }}
y = "throughput"
by = "receive buffer"
caption = "The same at one round trip."
[[claim]]
says = "A fixed buffer of 3,158,016 bytes moves at most half of the line rate."
figure = "throughput"
where = {{ rtt = {rtt:?}, "receive buffer" = {buffer:?} }}
at_most = 0.5
of = "line rate"
[[claim]]
says = "It moves at least all of it."
figure = "throughput"
where = {{ rtt = {rtt:?}, "receive buffer" = {buffer:?} }}
at_least = 1
of = "line rate"
"#,
        list(rtts)
    )
}

/// The plan that most tests use: six cells.
pub fn small() -> String {
    plan(&["0ms", "30ms", "100ms"], &["3,158,016, fixed", "the kernel's"])
}

/// A directory with every row that a whole run has; `change` may fail one, or change it.
pub fn measured(path: &Path, plan: &str, mut change: impl FnMut(&mut Row)) -> ResultDirectory {
    let directory = ResultDirectory::create(path, plan).expect("made");
    let read = Plan::parse("plan.toml", plan).expect("it is right");
    for cell in read.cells(false).expect("readable") {
        for repetition in 1..=read.repetitions(false) {
            let mut row = row(&read, cell.number, repetition);
            row.factors = cell.factors.clone();
            let place = (cell.number as usize, read.factors.last().map_or(1, |factor| factor.levels.len()));
            shape(&mut row, place.0 - 1, place.1);
            change(&mut row);
            if let Some(name) = &row.series {
                directory.write_series(name, &series(row.seed, row.round_trip_seconds)).expect("written");
            }
            directory.append(&row).expect("written");
        }
    }
    directory
}

/// Figures that fall with the round trip as a window over a time does.
fn shape(row: &mut Row, index: usize, buffers: usize) {
    let rtt = 0.0002 + 0.03 * (index / buffers) as f64;
    let window = 1.3e6 * (1 + 3 * (index % buffers)) as f64;
    let noise = 1.0 + 0.08 * (unit_random(row.seed) - 0.5);
    let throughput = (window / rtt).min(112e6) * noise;
    row.round_trip_seconds = rtt;
    let figure = |name: &str, value: f64, unit: &str| (name.to_owned(), RowFigure::new(value, unit));
    row.figures = [
        figure("throughput", throughput, unit::BYTES_PER_SECOND),
        figure("main.throughput", throughput, unit::BYTES_PER_SECOND),
        figure("main.p50", rtt * 1.1, unit::SECONDS),
        figure("main.calls", 500.0, unit::COUNT),
        figure("server.processor", 1.25, unit::SECONDS),
    ]
    .into();
    let percentiles = [0.01, 0.1, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999];
    let latency = |part: f64| (part, (rtt + 1e-3) * (1.0 + 0.3 / (1.0 - part).sqrt()) * noise);
    row.latencies = [("main".to_owned(), percentiles.map(latency).to_vec())].into();
}

fn row(plan: &Plan, cell: u32, repetition: u32) -> Row {
    let command = |host: &str, name: &str, words: &[&str]| CommandRecord {
        host: host.to_owned(),
        name: name.to_owned(),
        command: words.iter().map(|word| (*word).to_owned()).collect(),
    };
    Row {
        plan: plan.name.clone(),
        quick: false,
        cell,
        repetition,
        seed: seed(plan.seed, cell, repetition),
        factors: Default::default(),
        outcome: Outcome::Ok,
        started: format!("2026-11-22T04:{:02}:0{repetition}Z", cell % 60),
        seconds: 12.25,
        other_load: Some(OtherLoad { seconds: 0.5, share: 0.02 }),
        commands: vec![
            command("server", "server", &["howdah", "serve", "--listen", "10.77.0.1", "/srv"]),
            command(
                "client",
                "main",
                &["howdah", "bench", "nfs://10.77.0.1/?rsize=1048576", "--json", "--size", "500M"],
            ),
        ],
        line_rate_bytes_per_second: Some(117e6),
        round_trip_seconds: 0.03,
        figures: Default::default(),
        latencies: Default::default(),
        link: Vec::new(),
        series: Some(ResultDirectory::series_name(cell, repetition)),
        machine: Machine::this(),
        commit: Some("0123456789abcdef".to_owned()),
        howdah: "0.1.0".to_owned(),
    }
}

/// Ten seconds of a connection whose window saws, with a pause in the samples, and of the queue before it.
fn series(seed: u64, rtt: f64) -> Vec<SeriesLine> {
    let mut lines = Vec::new();
    for index in (0..100).filter(|index| !(60..70).contains(index)) {
        let at = f64::from(index) * 0.1;
        let window = (20_000.0 * 1.12_f64.powi(index % 40)).min(3.0e6) as u64 + seed % 1000;
        let flight = window * 9 / 10;
        for (host, connection, acked) in [
            ("client", "10.77.0.2:801-10.77.0.1:2049", u64::from(index as u32) * 4_000_000),
            ("server", "10.77.0.1:2049-10.77.0.2:801", u64::from(index as u32) * 1_000),
        ] {
            lines.push(SeriesLine::Connection(ConnectionSample {
                at,
                host: host.to_owned(),
                connection: connection.to_owned(),
                rtt: Some(rtt + flight as f64 / 125e6),
                window: Some(window),
                flight: Some(flight),
                receive_buffer: Some(3_158_016),
                bytes_acked: Some(acked),
                ..ConnectionSample::default()
            }));
        }
        lines.push(SeriesLine::Link(LinkSample {
            at,
            wire: "path0".to_owned(),
            direction: "there".to_owned(),
            element: "rate".to_owned(),
            queued_bytes: flight / 3,
            ..LinkSample::default()
        }));
    }
    lines
}

/// A number between nought and one that follows from a seed.
fn unit_random(seed: u64) -> f64 {
    (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / (1u64 << 24) as f64
}
