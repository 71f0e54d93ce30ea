//! What was seen, a line for each kind of attacker.
#![allow(clippy::print_stdout, reason = "the table is its purpose")]

use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::Context;

use super::super::figures::Spread;
use super::crowd::{Spent, Tally};
use super::kind::Kind;
use super::mount::Served;

/// What the mount must keep of its throughput.
const LEAST_RATE: f64 = 0.8;
/// How many times as long its questions may take.
const MOST_LATENCY: f64 = 3.0;

/// What was seen of one kind in one run.
#[derive(Debug)]
pub struct Seen {
    /// How the mount was served before they came.
    pub before: Served,
    /// And while they were there.
    pub during: Served,
    /// Processors that the server used meanwhile.
    pub server: f64,
    /// And the attackers.
    pub crowd: Spent,
    /// Bytes that the server held.
    pub memory: u64,
    /// Bytes that TCP held on this host.
    pub kernel: u64,
}

/// What the columns are.
pub fn head() {
    println!(
        "{:<20} {:>12} {:>12} {:>7} {:>11} {:>11} {:>7} {:>7} {:>9} {:>7} {:>9} {:>10} {:>8}",
        "attackers",
        "before",
        "during",
        "ratio",
        "p99 before",
        "p99 during",
        "ratio",
        "acts/s",
        "sent away",
        "server",
        "attackers",
        "server MB",
        "TCP MB"
    );
}

/// One kind.
pub fn show(kind: Kind, seen: &[Seen], tally: &Tally) -> anyhow::Result<()> {
    let acting: Duration = seen.iter().map(|seen| seen.crowd.time).sum();
    let spread = |figure: &dyn Fn(&Seen) -> f64| {
        Spread::of(&seen.iter().map(figure).collect::<Vec<_>>()).context("no run")
    };
    let median = |figure: &dyn Fn(&Seen) -> f64| spread(figure).map(|spread| spread.median);
    let most = |figure: &dyn Fn(&Seen) -> u64| seen.iter().map(figure).max().unwrap_or(0) as f64 / 1e6;
    let rates = spread(&|seen| seen.during.rate / seen.before.rate)?;
    let latency = median(&|seen| seen.during.p99.as_secs_f64() / seen.before.p99.as_secs_f64())?;
    let is_met = rates.median >= LEAST_RATE && latency <= MOST_LATENCY;
    println!(
        "{:<20} {:>7.0} MB/s {:>7.0} MB/s {:>7.2} {:>8.2} ms {:>8.2} ms {:>7.2} {:>7.0} {:>9} {:>7.2} {:>9.2} {:>10.1} {:>8.1}  {}; worst ratio {:.2}",
        kind.name(),
        median(&|seen| seen.before.rate)? / 1e6,
        median(&|seen| seen.during.rate)? / 1e6,
        rates.median,
        median(&|seen| seen.before.p99.as_secs_f64())? * 1e3,
        median(&|seen| seen.during.p99.as_secs_f64())? * 1e3,
        latency,
        tally.acts.load(Ordering::Relaxed) as f64 / acting.as_secs_f64(),
        tally.sent_away.load(Ordering::Relaxed),
        median(&|seen| seen.server)?,
        median(&|seen| seen.crowd.processor.as_secs_f64() / seen.crowd.time.as_secs_f64())?,
        most(&|seen| seen.memory),
        most(&|seen| seen.kernel),
        if is_met { "met" } else { "NOT MET" },
        rates.least,
    );
    Ok(())
}
