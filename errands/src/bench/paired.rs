//! Two servers measured in turn, on the same row: what one does of what the other does.
#![allow(clippy::print_stdout, reason = "the table is its purpose")]

use anyhow::Context;

use super::export::Export;
use super::figures::Spread;
use super::measure::{Plan, measure_together};
use super::row::{self, Row};
use super::server::Server;

/// What one server does of what the other does, medians.
#[derive(Debug, Clone, Copy)]
pub struct Ratios {
    /// Units a second.
    pub rate: f64,
    /// The server's processor time for each.
    pub cost: f64,
}

/// Calls or data to each of two servers; prints the rates, and whether the first does at least so much of what
/// the second does.
pub fn compare(
    name: &str,
    plan: Plan,
    export: &Export,
    [(what, server), (other_what, other_server)]: [(&str, &Server); 2],
    least: f64,
) -> anyhow::Result<Ratios> {
    let [row] = row::choose(&[name.to_owned()])[..] else { anyhow::bail!("{name} is not one row") };
    let rate = |server: &Server| rate(row, plan, export, server);
    let (mut rates, mut others, mut ratios, mut costs) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for run in 0..plan.runs {
        // The first may find the machine in another state than the second.
        let (one, other) = if run % 2 == 0 {
            let one = rate(server)?;
            (one, rate(other_server)?)
        } else {
            let other = rate(other_server)?;
            (rate(server)?, other)
        };
        rates.push(one.0);
        others.push(other.0);
        ratios.push(one.0 / other.0);
        costs.push(one.1 / other.1);
    }
    let shown = |values: &[f64]| {
        Spread::of(values)
            .map(|spread| format!("{:.3e} ({:.3e}..{:.3e})", spread.median, spread.least, spread.most))
    };
    let (ratio, cost) = (Spread::of(&ratios).context("no run")?, Spread::of(&costs).context("no run")?);
    println!(
        "{}: {} /s {what}, {} /s {other_what}; ratio {:.3} ({:.3}..{:.3}), at least {least}: {}; \
         the server's processor time for each {:.3} ({:.3}..{:.3})",
        row.about,
        shown(&rates).unwrap_or_default(),
        shown(&others).unwrap_or_default(),
        ratio.median,
        ratio.least,
        ratio.most,
        if ratio.median >= least { "met" } else { "NOT MET" },
        cost.median,
        cost.least,
        cost.most,
    );
    Ok(Ratios { rate: ratio.median, cost: cost.median })
}

/// Units a second, and the server's seconds of processor time for each.
fn rate(row: &Row, plan: Plan, export: &Export, server: &Server) -> anyhow::Result<(f64, f64)> {
    let slices = measure_together(row, plan, export, server)?;
    let rate: f64 = slices.iter().map(|slice| slice.units as f64 / slice.elapsed.as_secs_f64()).sum();
    // Each saw all of the server's.
    let busy: f64 =
        slices.iter().map(|slice| slice.subject.as_secs_f64() / slice.elapsed.as_secs_f64()).sum();
    Ok((rate, busy / slices.len() as f64 / rate))
}
