//! How exact a path's delay is: of the forwarder by its own count, to the receiver's socket by the kernel's stamp, and to
//! the program behind it, which must be woken up; beside what this machine takes for that without a wire.
#![allow(clippy::print_stdout, reason = "the table is its purpose")]

use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use howdah_lab::measure::Processor;
use howdah_lab::network::Lateness;

use super::super::arguments::Link;
use super::probe::{self, Ways};
use super::run::met;
use super::scene::Scene;
use super::{iperf, sleep};

/// So many of all packets are to leave the forwarder on time.
const GOAL: f64 = 0.99;

/// Measures and prints.
pub fn run(what: &Link) -> anyhow::Result<()> {
    println!(
        "Delay, in us that are too many: half of all / 99 of 100 / the most, of {} probes",
        probes(what)
    );
    println!(
        "At 1 Gb/s; goal: {} of 100 leave the forwarder on time, to {} us. What a perfect wire shows on the way to the",
        GOAL * 100.0,
        Lateness::EXACT.as_micros()
    );
    println!(
        "socket and to the program is the machine's: who sends must be noticed, and who receives be woken up."
    );
    println!(
        "{:<40} {:>20} {:>9} {:>20} {:>20} {:>6} {:>8}",
        "", "forwarder", "on time", "to the socket", "to the program", "cores", "goal"
    );
    machine(what)?;
    for delay in ["1ms", "15ms", "100ms"] {
        for punctual in [true, false] {
            row(what, delay, punctual)?;
        }
    }
    Ok(())
}

fn row(what: &Link, delay: &str, punctual: bool) -> anyhow::Result<()> {
    let path = format!("delay = '{delay}'\nrate = '1Gbit'");
    let scene = Scene::new(&path, Some(punctual), 1)?;
    let expected = delay_of(delay)? + Duration::from_nanos(probe::ON_ETHERNET as u64 * 8);
    // At this rate a wire is punctual unless told otherwise.
    let mark = if punctual { "" } else { ", not punctual" };
    alone(what, &scene, &format!("{delay}{mark}, nothing else"), expected)?;
    under_load(what, &scene, &format!("{delay}{mark}, TCP fills the way back"), expected)
}

/// What the machine takes where no path delays anything.
fn machine(what: &Link) -> anyhow::Result<()> {
    let late = sleep::lateness(probes(what), probe::EVERY)?;
    println!(
        "{:<40} {:>20} {:>9} {:>20} {:>20}",
        "a thread that sleeps until a time",
        "",
        "",
        "",
        figures(late, Duration::ZERO)
    );
    let scene = Scene::new("", None, 1)?;
    let (from, to) = (scene.socket("client")?, scene.socket("client")?);
    let ways = probe::run(&from, &to, probes(what))?;
    show("loopback, no wire", None, ways, Duration::ZERO, None);
    alone(what, &scene, "a perfect wire", Duration::ZERO)?;
    let scene = Scene::new("[back]\nrate = '1Gbit'", None, 1)?;
    under_load(what, &scene, "a perfect wire, TCP fills the way back", Duration::ZERO)
}

fn alone(what: &Link, scene: &Scene, row: &str, expected: Duration) -> anyhow::Result<()> {
    let (from, to) = (scene.socket("client")?, scene.socket("server")?);
    let (before, used, start) = (scene.there().late, Processor::used(), Instant::now());
    let ways = probe::run(&from, &to, probes(what))?;
    let cores = Processor::used().since(used).seconds() / start.elapsed().as_secs_f64();
    show(row, Some(scene.there().late.since(&before)), ways, expected, Some(cores));
    Ok(())
}

/// The same while a stream fills the way back as far as it can; then what the forwarder did to that stream.
fn under_load(what: &Link, scene: &Scene, row: &str, expected: Duration) -> anyhow::Result<()> {
    let seconds = (what.seconds + 3).to_string();
    let before = scene.back().late;
    std::thread::scope(|scope| {
        let load = scope.spawn(|| iperf::run(&scene.network, "server", "client", &["--time", &seconds]));
        // Until it is at its rate.
        std::thread::sleep(Duration::from_secs(2));
        let result = alone(what, scene, row, expected);
        load.join().map_err(|_| anyhow!("the load panicked"))??;
        result
    })?;
    let late = scene.back().late.since(&before);
    let [quantiles, on_time, goal] = counted(&late);
    println!(
        "{:<40} {quantiles:>20} {on_time:>9} {:>20} {:>20} {:>6} {goal:>8}",
        "  that stream", "", "", ""
    );
    Ok(())
}

fn delay_of(text: &str) -> anyhow::Result<Duration> {
    let milliseconds = text.strip_suffix("ms").and_then(|number| number.parse().ok()).context("a delay")?;
    Ok(Duration::from_millis(milliseconds))
}

fn probes(what: &Link) -> u32 {
    u32::try_from(u128::from(what.seconds) * 1000 / probe::EVERY.as_millis()).unwrap_or(u32::MAX)
}

fn show(row: &str, late: Option<Lateness>, ways: Ways, expected: Duration, cores: Option<f64>) {
    let [quantiles, on_time, goal] = late.map_or_else(Default::default, |late| counted(&late));
    println!(
        "{row:<40} {quantiles:>20} {on_time:>9} {:>20} {:>20} {:>6} {goal:>8}",
        figures(ways.to_socket, expected),
        figures(ways.to_program, expected),
        cores.map_or(String::new(), |cores| format!("{cores:.2}")),
    );
}

/// As the forwarder counted: quantiles, how many were on time, and whether that is the goal. Nothing of what is not delayed.
fn counted(late: &Lateness) -> [String; 3] {
    let Some(exact) = late.exact() else { return Default::default() };
    let [half, most] = [0.5, 0.99].map(|part| late.quantile(part).as_micros());
    [
        format!("<{half} / <{most} / {}", late.most / 1000),
        format!("{:.2} %", exact * 100.0),
        met(exact >= GOAL).to_owned(),
    ]
}

fn figures(ways: Vec<Duration>, expected: Duration) -> String {
    Errors::new(ways, expected).text()
}

/// In microseconds, the smallest first; negative ones are early.
struct Errors(Vec<f64>);

impl Errors {
    fn new(ways: Vec<Duration>, expected: Duration) -> Self {
        let error = |way: Duration| (way.as_nanos() as f64 - expected.as_nanos() as f64) / 1e3;
        let mut errors: Vec<f64> = ways.into_iter().map(error).collect();
        errors.sort_unstable_by(f64::total_cmp);
        Self(errors)
    }

    fn quantile(&self, part: f64) -> f64 {
        self.0[((self.0.len() - 1) as f64 * part) as usize]
    }

    fn text(&self) -> String {
        format!("{:.0} / {:.0} / {:.0}", self.quantile(0.5), self.quantile(0.99), self.quantile(1.0))
    }
}
