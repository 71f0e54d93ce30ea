//! `cargo xtask bench compare`: what a change costs, or brings: two builds of the server, measured in turn on the same rows.
#![allow(clippy::print_stdout, reason = "the table is its purpose")]

use std::path::Path;

use anyhow::ensure;

use super::arguments::{Compare, Subject};
use super::cores::{self, Cores};
use super::export::Export;
use super::figures::Spread;
use super::machine;
use super::measure::Plan;
use super::paired::{self, Ratios};
use super::server::Server;

/// Does it.
pub fn run(arguments: &Compare) -> anyhow::Result<()> {
    ensure!(
        arguments.runs > 0 && arguments.starts > 0 && arguments.connections > 0 && arguments.seconds > 0.0,
        "nothing would be measured"
    );
    let cores = Cores::choose()?;
    let export = Export::make(None)?;
    machine::describe().iter().for_each(|(what, value)| println!("{what}: {value}"));
    cores::stay_on(cores.load)?;
    println!("cores: servers on {}, load on {}", cores.server, cores.load);
    println!("with: {}, without: {}", arguments.with.display(), arguments.without.display());
    println!("runs: {} of {} s each; median (min..max)\n", arguments.runs, arguments.seconds);
    let plan = Plan {
        connections: arguments.connections,
        in_flight: arguments.in_flight,
        ..Plan::new(arguments.runs, arguments.seconds)
    };
    let mut seen: Vec<Vec<Ratios>> = vec![Vec::new(); arguments.rows.len()];
    for number in 0..arguments.starts {
        let (with, without) = started(number, arguments, &export, cores.server)?;
        for (row, seen) in arguments.rows.iter().zip(&mut seen) {
            seen.push(paired::compare(
                row,
                plan,
                &export,
                [("with", &with), ("without", &without)],
                arguments.least,
            )?);
        }
    }
    if arguments.starts > 1 {
        println!();
        arguments.rows.iter().zip(&seen).for_each(|(row, seen)| tell_all(row, seen, arguments.least));
    }
    Ok(())
}

/// Both servers, at work. Each starts first in every other start: the first has another place in memory, and in the machine's
/// attention, than the second.
fn started(
    number: usize,
    arguments: &Compare,
    export: &Export,
    core: usize,
) -> anyhow::Result<(Server, Server)> {
    let start = |binary: &Path| Server::obtain(&subject(binary), export.path(), core);
    let (with, without) = (&arguments.with, &arguments.without);
    if number.is_multiple_of(2) {
        return Ok((start(with)?, start(without)?));
    }
    let without = start(without)?;
    Ok((start(with)?, without))
}

fn subject(binary: &Path) -> Subject {
    Subject {
        server_bin: Some(binary.to_owned()),
        server_argument: Vec::new(),
        address: None,
        pid: None,
        directory: None,
        export: "/".to_owned(),
    }
}

/// The median of what all starts had.
fn tell_all(row: &str, seen: &[Ratios], least: f64) {
    let spread = |of: fn(&Ratios) -> f64| Spread::of(&seen.iter().map(of).collect::<Vec<_>>());
    if let (Some(rate), Some(cost)) = (spread(|ratios| ratios.rate), spread(|ratios| ratios.cost)) {
        println!(
            "{row}, {} starts: ratio {:.3} ({:.3}..{:.3}), at least {least}: {}; the server's processor time for each {:.3} ({:.3}..{:.3})",
            seen.len(),
            rate.median,
            rate.least,
            rate.most,
            if rate.median >= least { "met" } else { "NOT MET" },
            cost.median,
            cost.least,
            cost.most,
        );
    }
}
