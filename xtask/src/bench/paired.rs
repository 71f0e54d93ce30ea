//! Two servers measured in turn, on the same row: what one does of what the other does.
#![allow(clippy::print_stdout, reason = "the table is its purpose")]

use anyhow::Context;

use super::export::Export;
use super::figures::Spread;
use super::measure::{Plan, measure_server};
use super::row::{self, Row};
use super::server::Server;

/// Calls or data over one connection to each of two servers; prints the rates, and whether the first does at least so much of what
/// the second does.
pub fn compare(
    name: &str,
    plan: Plan,
    export: &Export,
    [(what, server), (other_what, other_server)]: [(&str, &Server); 2],
    least: f64,
) -> anyhow::Result<()> {
    let [row] = row::choose(&[name.to_owned()])[..] else { anyhow::bail!("{name} is not one row") };
    let rate = |server: &Server| rate(row, plan, export, server);
    let (mut rates, mut others, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for run in 0..plan.runs {
        // Whoever comes first may find the machine in another state than whoever comes second.
        let (one, other) = if run % 2 == 0 {
            let one = rate(server)?;
            (one, rate(other_server)?)
        } else {
            let other = rate(other_server)?;
            (rate(server)?, other)
        };
        rates.push(one);
        others.push(other);
        ratios.push(one / other);
    }
    let shown = |values: &[f64]| {
        Spread::of(values)
            .map(|spread| format!("{:.3e} ({:.3e}..{:.3e})", spread.median, spread.least, spread.most))
    };
    let ratio = Spread::of(&ratios).context("no run")?;
    println!(
        "{}: {} /s {what}, {} /s {other_what}; ratio {:.3} ({:.3}..{:.3}), at least {least}: {}",
        row.about,
        shown(&rates).unwrap_or_default(),
        shown(&others).unwrap_or_default(),
        ratio.median,
        ratio.least,
        ratio.most,
        if ratio.median >= least { "met" } else { "NOT MET" }
    );
    Ok(())
}

fn rate(row: &Row, plan: Plan, export: &Export, server: &Server) -> anyhow::Result<f64> {
    let mut congestion = Default::default();
    let slice = measure_server(&mut congestion, row, plan, export, server)?;
    Ok(slice.units as f64 / slice.elapsed.as_secs_f64())
}
