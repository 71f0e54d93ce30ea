//! How exact a path's rate is: bytes on the wire between two looks, while TCP or UDP sends as much as it can.
#![allow(clippy::print_stdout, reason = "the table is its purpose")]

use std::time::{Duration, Instant};

use anyhow::anyhow;

use super::super::arguments::Link;
use super::iperf::{self, Measured};
use super::run::met;
use super::scene::{Scene, element};

/// How wrong it may be.
const GOAL: f64 = 0.01;
/// Until a sender is at its rate.
const RAMP: Duration = Duration::from_secs(2);

/// Measures and prints.
pub fn run(what: &Link) -> anyhow::Result<()> {
    println!("Rate on the wire, Ethernet's framing included; goal: within {} %", GOAL * 100.0);
    println!("{:<26} {:>12} {:>10} {:>14} {:>8}", "", "Mb/s", "error", "payload, Mb/s", "goal");
    for megabits in [10, 100, 1000, 5000] {
        row(what, megabits, "TCP", &[])?;
    }
    for megabits in [10, 100, 1000] {
        // A tenth more than goes through.
        let target = format!("{}M", megabits * 11 / 10);
        row(what, megabits, "UDP", &["--udp", "--bitrate", &target, "--length", "1448"])?;
    }
    Ok(())
}

fn row(what: &Link, megabits: u64, kind: &str, arguments: &[&str]) -> anyhow::Result<()> {
    let scene = Scene::new(&format!("rate = '{megabits}Mbit'\nrtt = '2ms'"), 1)?;
    let seconds = (what.seconds + RAMP.as_secs() + 1).to_string();
    let arguments = [&["--time", &seconds][..], arguments].concat();
    let (rate, measured) = std::thread::scope(|scope| {
        let sender = scope.spawn(|| iperf::run(&scene.network, "client", "server", &arguments));
        std::thread::sleep(RAMP);
        let rate = bits_per_second(&scene, Duration::from_secs(what.seconds));
        let measured: anyhow::Result<Measured> = sender.join().map_err(|_| anyhow!("the sender panicked"))?;
        anyhow::Ok((rate?, measured?))
    })?;
    let error = rate / (megabits as f64 * 1e6) - 1.0;
    println!(
        "{:<26} {:>12.3} {:>8.3} % {:>14.3} {:>8}",
        format!("{megabits} Mb/s, {kind}"),
        rate / 1e6,
        error * 100.0,
        measured.bits_per_second / 1e6,
        met(error.abs() <= GOAL)
    );
    Ok(())
}

/// Of what left the line in this time.
fn bits_per_second(scene: &Scene, time: Duration) -> anyhow::Result<f64> {
    let look = || anyhow::Ok((Instant::now(), element(&scene.there(), "rate")?.left.bytes));
    let (start, before) = look()?;
    std::thread::sleep(time);
    let (end, after) = look()?;
    Ok((after - before) as f64 * 8.0 / (end - start).as_secs_f64())
}
