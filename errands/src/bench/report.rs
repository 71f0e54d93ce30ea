//! The table, and the same as JSON.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is what prints")]

use std::path::Path;

use anyhow::Context;
use serde_json::{Value, json};

use super::cores::Cores;
use super::export::Export;
use super::figures::{Figures, Spread};
use super::machine;
use super::measure::{Measured, Plan};
use super::row::{Row, Target, Unit};

/// All that is printed.
#[derive(Debug)]
pub struct Report {
    about: Vec<(&'static str, String)>,
    rows: Vec<Measured>,
}

impl Report {
    /// Nothing measured yet.
    pub fn new(plan: Plan, cores: Cores, export: &Export) -> Self {
        let mut about = machine::describe();
        let kind = if export.on_tmpfs() { "tmpfs" } else { "not tmpfs: the disk takes part" };
        about.push(("export", format!("{}, {kind}", export.path().display())));
        about.push(("cores", format!("server and floors on {}, load on {}", cores.server, cores.load)));
        let discard = if plan.discard { ", READ data discarded in the kernel by the load" } else { "" };
        about.push((
            "runs",
            format!("{} of {} s each, server and floors in turn{discard}", plan.runs, plan.seconds),
        ));
        Self { about, rows: Vec::new() }
    }

    /// One row more.
    pub fn add(&mut self, measured: Measured) {
        self.rows.push(measured);
    }

    /// The table.
    pub fn print(&self) {
        println!();
        self.about.iter().for_each(|(what, text)| println!("{what}: {text}"));
        if let Some(measured) = self.rows.first() {
            let [server, load, floors] = &measured.congestion;
            println!("congestion control: server {server}, load {load}, floors {floors}");
        }
        println!();
        let mut lines = vec![HEADINGS.map(str::to_owned)];
        lines.extend(self.rows.iter().map(line));
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
        let widths: [usize; HEADINGS.len()] = std::array::from_fn(width);
        for line in &lines {
            let cells = line.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
            println!("{}", cells.collect::<Vec<_>>().join("  ").trim_end());
        }
        println!("{NOTES}");
    }

    /// All measurements, for a program.
    pub fn write_json(&self, path: &Path) -> anyhow::Result<()> {
        let about: serde_json::Map<_, _> =
            self.about.iter().map(|(what, text)| ((*what).to_owned(), Value::from(text.as_str()))).collect();
        let document = json!({ "about": about, "rows": self.rows.iter().map(row_json).collect::<Vec<_>>() });
        std::fs::write(path, format!("{document:#}\n")).with_context(|| format!("writing {}", path.display()))
    }
}

const HEADINGS: [&str; 10] = [
    "row",
    "target",
    "server (min..max)",
    "floor (min..max)",
    "of",
    "ratio",
    "rate (min..max)",
    "floor's rate",
    "busy: server/floor/load",
    "met",
];

const NOTES: &str = "
Server and floor: processor time per unit, median of the runs; in the row latency, the median time from call to reply.
Ratio: server to floor of the same run, median. Rate: as seen by the load. Busy: share of its core that the server, the
floor, and the load (while it drove the server, if there was one) used; who is near 100 % was the limit, and if nobody
is, something else ran on the machine. Machines like this are shared and noisy: believe a ratio before a rate, and a
difference only if it is larger than the spread.";

/// Says that a row is done.
pub fn progress(measured: &Measured) {
    let cells = line(measured);
    eprintln!("{}: server {}, floor {}, ratio {}", cells[0], cells[2], cells[3], cells[5]);
}

fn line(measured: &Measured) -> [String; HEADINGS.len()] {
    let row = measured.row;
    let figures = Figures::of(measured);
    let cost = |spread: Option<Spread>| spread.map_or("-".to_owned(), |spread| cost(row, spread));
    let server = measured.server.first().map(|_| Figures::busy(&measured.server));
    let floor = figures.best.map(|best| Figures::busy(&measured.floors[best].1));
    let load = server.or(floor).map(|(_, load)| load);
    let percent =
        |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{:.0} %", share * 100.0));
    [
        row.name.to_owned(),
        target(row),
        cost(figures.server),
        cost(figures.floor),
        figures.best.map_or(String::new(), |best| measured.floors[best].0.name()),
        figures.ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}")),
        figures.rate.map_or("-".to_owned(), |spread| rate(row, spread)),
        figures.floor_rate.map_or("-".to_owned(), |spread| rate(row, spread)),
        format!(
            "{} / {} / {}",
            percent(server.map(|busy| busy.0)),
            percent(floor.map(|busy| busy.0)),
            percent(load)
        ),
        match figures.met(row.target) {
            None => "-".to_owned(),
            Some(true) => "yes".to_owned(),
            Some(false) => "NO".to_owned(),
        },
    ]
}

fn target(row: &Row) -> String {
    match row.target {
        Target::None => "-".to_owned(),
        Target::Cost(nanoseconds) => format!("<= {} us", nanoseconds / 1e3),
        Target::CostAndRate(nanoseconds, rate) => format!("<= {} us, >= {rate}/s", nanoseconds / 1e3),
        Target::Ratio(ratio) => format!("<= {ratio} x floor"),
    }
}

fn cost(row: &Row, Spread { median, least, most }: Spread) -> String {
    match row.unit {
        // A nanosecond per byte is a second per gigabyte.
        Unit::Byte => format!("{median:.3} s/GB ({least:.3}..{most:.3})"),
        _ => format!("{:.2} us ({:.2}..{:.2})", median / 1e3, least / 1e3, most / 1e3),
    }
}

fn rate(row: &Row, Spread { median, least, most }: Spread) -> String {
    match row.unit {
        Unit::Byte => format!("{:.2} GB/s ({:.2}..{:.2})", median / 1e9, least / 1e9, most / 1e9),
        _ => format!("{median:.0}/s ({least:.0}..{most:.0})"),
    }
}

fn row_json(measured: &Measured) -> Value {
    let slice = |slice: &super::generator::Slice| {
        json!({
            "calls": slice.calls,
            "units": slice.units,
            "seconds": slice.elapsed.as_secs_f64(),
            "server_cpu_seconds": slice.subject.as_secs_f64(),
            "load_cpu_seconds": slice.load.as_secs_f64(),
            "cost_ns_per_unit": super::figures::cost(measured.row, slice),
        })
    };
    let floors = measured.floors.iter().map(
        |(job, slices)| json!({ "job": job.name(), "slices": slices.iter().map(slice).collect::<Vec<_>>() }),
    );
    let figures = Figures::of(measured);
    json!({
        "row": measured.row.name,
        "about": measured.row.about,
        "target": target(measured.row),
        "server": measured.server.iter().map(slice).collect::<Vec<_>>(),
        "floors": floors.collect::<Vec<_>>(),
        "ratio": figures.ratio,
        "met": figures.met(measured.row.target),
    })
}
