//! How much an unshaped wire carries, beside loopback, which has no wire.
#![allow(clippy::print_stdout, reason = "the table is its purpose")]

use std::time::Instant;

use howdah_lab::measure::Processor;

use super::super::arguments::Link;
use super::iperf;
use super::run::met;
use super::scene::Scene;

/// The least that an unshaped wire is to carry, in Gb/s.
const GOAL: f64 = 8.0;

/// Measures and prints.
pub fn run(what: &Link) -> anyhow::Result<()> {
    println!("Throughput of TCP in Gb/s, beside loopback; goal: {GOAL} through a perfect wire");
    println!(
        "{:<34} {:>8} {:>10} {:>12} {:>14} {:>8}",
        "", "Gb/s", "loopback", "again", "cores for it", "goal"
    );
    for path in ["", "delay = '1ms'", "rate = '40Gbit'", "loss = '0.001%'"] {
        for streams in [1, 4] {
            row(what, path, false, streams)?;
        }
    }
    row(what, "", true, 1)?;
    row(what, "", true, 4)
}

fn row(what: &Link, path: &str, punctual: bool, streams: u32) -> anyhow::Result<()> {
    let scene = Scene::new(path, Some(punctual), 1)?;
    let (seconds, streams) = (what.seconds.to_string(), streams.to_string());
    let arguments = ["--time", &seconds, "--omit", "1", "--parallel", &streams];
    let (before, start) = (Processor::used(), Instant::now());
    let through = iperf::run(&scene.network, "client", "server", &arguments)?;
    let cores = Processor::used().since(before).seconds() / start.elapsed().as_secs_f64();
    let loopback = iperf::run(&scene.network, "client", "client", &arguments)?;
    let gigabits = through.bits_per_second / 1e9;
    let name = match (path, punctual) {
        ("", false) => "perfect",
        ("", true) => "perfect, punctual",
        _ => path,
    };
    println!(
        "{:<34} {gigabits:>8.2} {:>10.2} {:>12} {cores:>14.2} {:>8}",
        format!("{name}, {streams} streams"),
        loopback.bits_per_second / 1e9,
        through.retransmits,
        if path.is_empty() { met(gigabits >= GOAL) } else { "" },
    );
    Ok(())
}
