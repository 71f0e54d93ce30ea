//! `cargo xtask bench compare`: what a change costs, or brings: two builds of the server, measured in turn on the same rows.
#![allow(clippy::print_stdout, reason = "the table is its purpose")]

use std::path::Path;

use anyhow::ensure;

use super::arguments::{Compare, Subject};
use super::cores::{self, Cores};
use super::export::Export;
use super::machine;
use super::measure::Plan;
use super::paired;
use super::server::Server;

/// Does it.
pub fn run(arguments: &Compare) -> anyhow::Result<()> {
    ensure!(arguments.runs > 0 && arguments.seconds > 0.0, "nothing would be measured");
    let cores = Cores::choose()?;
    let export = Export::make(None)?;
    let start = |binary: &Path| {
        let subject = Subject {
            server_bin: Some(binary.to_owned()),
            server_argument: Vec::new(),
            address: None,
            pid: None,
            directory: None,
            export: "/".to_owned(),
        };
        Server::obtain(&subject, export.path(), cores.server)
    };
    let (with, without) = (start(&arguments.with)?, start(&arguments.without)?);
    cores::stay_on(cores.load)?;
    machine::describe().iter().for_each(|(what, value)| println!("{what}: {value}"));
    println!("cores: servers on {}, load on {}", cores.server, cores.load);
    println!("with: {}, without: {}", arguments.with.display(), arguments.without.display());
    println!("runs: {} of {} s each; median (min..max)\n", arguments.runs, arguments.seconds);
    let plan = Plan { runs: arguments.runs, seconds: arguments.seconds, discard: false };
    for row in &arguments.rows {
        paired::compare(row, plan, &export, [("with", &with), ("without", &without)], arguments.least)?;
    }
    Ok(())
}
