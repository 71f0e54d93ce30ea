//! Measures client and floor in turn, and prints.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the table is its purpose")]

use std::time::Duration;

use anyhow::ensure;

use super::super::arguments::Client;
use super::super::cores::{self, Cores};
use super::super::export::Export;
use super::super::figures::Spread;
use super::super::load::place;
use super::super::machine;
use super::super::server::Server;
use super::super::session::Session;
use super::{Direction, Moved, bare, subject::Subject};

/// The file: more than the caches of the machine.
const SIZE: u64 = 1 << 30;

/// A row of the table.
struct Row {
    name: &'static str,
    direction: Direction,
    place: &'static str,
    /// At most so many times the floor.
    target: Option<f64>,
}

const ROWS: [Row; 2] = [
    Row { name: "read-1m", direction: Direction::Read, place: place::READ_STREAM, target: Some(1.2) },
    Row { name: "write-1m", direction: Direction::Write, place: place::WRITE_STREAM, target: None },
];

/// Does it.
pub fn run(arguments: &Client) -> anyhow::Result<()> {
    ensure!(arguments.runs > 0 && arguments.seconds > 0.0, "nothing would be measured");
    let cores = Cores::choose()?;
    if let Some(by) = arguments.before_others {
        cores::go_before_others(by)?;
    }
    let export = Export::make(arguments.subject.directory.as_deref())?;
    let server = Server::obtain(&arguments.subject, export.path(), cores.server)?;
    cores::stay_on(cores.load)?;
    let mut lines = Vec::new();
    for row in &ROWS {
        let line = measure(row, arguments, &export, &server)?;
        eprintln!("{line}");
        lines.push(line);
    }
    println!();
    machine::describe().iter().for_each(|(what, value)| println!("{what}: {value}"));
    println!("cores: server on {}, client and floor on {}", cores.server, cores.load);
    println!(
        "runs: {} of {} s each, client and floor in turn, {} in flight",
        arguments.runs, arguments.seconds, arguments.in_flight
    );
    println!("\nprocessor time of the client's side, in seconds per 10^9 bytes: median (min..max)\n");
    lines.iter().for_each(|line| println!("{line}"));
    Ok(())
}

fn measure(row: &Row, arguments: &Client, export: &Export, server: &Server) -> anyhow::Result<String> {
    let file = export.lasting_file(row.place, SIZE)?;
    let handle = Session::mount(server.address, &server.export)?.handle(file.strip_prefix(export.path())?)?;
    let subject = Subject::mount(server.address, &server.export, row.place, SIZE)?;
    let time = Duration::from_secs_f64(arguments.seconds);
    let (mut client, mut floor, mut cached): (Vec<Moved>, Vec<Moved>, Vec<Moved>) = Default::default();
    let calls = arguments.in_flight;
    let bare = |buffers| bare::run(row.direction, server.address, (&handle, SIZE), (calls, buffers), time);
    subject.run(row.direction, calls, Duration::from_millis(300))?;
    for _ in 0..arguments.runs {
        client.push(subject.run(row.direction, calls, time)?);
        floor.push(bare(calls)?);
        cached.push(bare(1)?);
    }
    Ok(describe(row, &client, &floor, &cached))
}

fn describe(row: &Row, client: &[Moved], floor: &[Moved], cached: &[Moved]) -> String {
    let spread = |values: Vec<f64>| {
        Spread::of(&values)
            .map(|spread| format!("{:.3} ({:.3}..{:.3})", spread.median, spread.least, spread.most))
            .unwrap_or_default()
    };
    let costs = |moved: &[Moved]| spread(moved.iter().map(Moved::cost).collect());
    let rates = |moved: &[Moved]| spread(moved.iter().map(Moved::rate).collect());
    let ratio_to = |floor: &[Moved]| {
        let ratios: Vec<f64> =
            client.iter().zip(floor).map(|(client, floor)| client.cost() / floor.cost()).collect();
        Spread::of(&ratios).map_or(f64::NAN, |spread| spread.median)
    };
    let ratio = ratio_to(floor);
    let met = match row.target {
        Some(most) => format!(", at most {most}: {}", if ratio <= most { "met" } else { "NOT MET" }),
        None => String::new(),
    };
    format!(
        "{}: client {}, floor {}, ratio {ratio:.2}{met}; with one buffer for all replies, floor {}, ratio {:.2}; \
         rate {} GB/s, floor's {}",
        row.name,
        costs(client),
        costs(floor),
        costs(cached),
        ratio_to(cached),
        rates(client),
        rates(floor)
    )
}
