//! `cargo xtask bench serve`: gets an export and a server, measures the rows, prints.

use anyhow::{Context, ensure};

use super::arguments::Serve;
use super::cores::{self, Cores};
use super::export::Export;
use super::measure::{Plan, measure};
use super::report::{self, Report};
use super::row;
use super::server::Server;

/// Does it.
pub fn run(arguments: &Serve) -> anyhow::Result<()> {
    let rows = row::choose(&arguments.rows);
    ensure!(!rows.is_empty(), "no row starts with {}", arguments.rows.join(" or "));
    ensure!(arguments.runs > 0 && arguments.seconds > 0.0, "nothing would be measured");
    let cores = Cores::choose()?;
    if let Some(by) = arguments.before_others {
        cores::go_before_others(by)?;
    }
    let export = Export::make(arguments.subject.directory.as_deref())?;
    let server = match arguments.floors_only {
        true => None,
        false => Some(Server::obtain(&arguments.subject, export.path(), cores.server)?),
    };
    let plan = Plan { discard: arguments.discard, ..Plan::new(arguments.runs, arguments.seconds) };
    cores::stay_on(cores.load)?;
    let mut report = Report::new(plan, cores, &export);
    for row in rows {
        let measured = measure(row, plan, &export, server.as_ref(), cores);
        let measured = measured.with_context(|| format!("row {}", row.name))?;
        report::progress(&measured);
        report.add(measured);
    }
    report.print();
    match &arguments.json {
        Some(path) => report.write_json(path),
        None => Ok(()),
    }
}
