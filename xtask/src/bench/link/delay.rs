//! How exact a path's delay is: datagrams that say when they were sent, against a clock that both hosts have in common. What
//! waking up the receiver takes is in the figures, as on a perfect wire and on loopback, which stand beside.
#![allow(clippy::print_stdout, reason = "the table is its purpose")]

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};

use super::super::arguments::Link;
use super::iperf;
use super::run::met;
use super::scene::Scene;

/// How wrong a delay may be: so much for 99 of 100 probes.
const GOAL: Duration = Duration::from_micros(200);
/// Between two probes.
const EVERY: Duration = Duration::from_millis(1);
/// A probe, with what it takes on an Ethernet besides.
const PROBE: usize = 100;
const ON_ETHERNET: usize = PROBE + 28 + 38;

/// Measures and prints.
pub fn run(what: &Link) -> anyhow::Result<()> {
    println!(
        "Error of the delay in us, of {} probes each; goal: 99 of 100 within {} us at 1 Gb/s",
        probes(what),
        GOAL.as_micros()
    );
    println!("{:<46} {:>8} {:>8} {:>8} {:>8} {:>8}", "", "half", "9 of 10", "99 %", "most", "goal");
    let scene = Scene::new("", 1)?;
    show("a perfect wire (waking up twice)", &errors(what, &scene, Duration::ZERO)?, None);
    for delay in ["1ms", "15ms", "100ms"] {
        let scene = Scene::new(&format!("delay = '{delay}'\nrate = '1Gbit'"), 1)?;
        let expected = delay_of(delay)? + Duration::from_nanos(ON_ETHERNET as u64 * 8);
        let quiet = errors(what, &scene, expected)?;
        show(&format!("1 Gb/s, {delay}, nothing else"), &quiet, Some(GOAL));
        let loaded = under_load(what, &scene, expected)?;
        show(&format!("1 Gb/s, {delay}, TCP fills the other direction"), &loaded, Some(GOAL));
        for (name, late) in [("there", scene.there().late), ("back", scene.back().late)] {
            println!(
                "  forwarder, {name}: late by at most {} us (99 %), {} us (999 of 1000), {} us (all)",
                late.quantile(0.99).as_micros(),
                late.quantile(0.999).as_micros(),
                late.most / 1000
            );
        }
    }
    Ok(())
}

fn delay_of(text: &str) -> anyhow::Result<Duration> {
    let milliseconds = text.strip_suffix("ms").and_then(|number| number.parse().ok()).context("a delay")?;
    Ok(Duration::from_millis(milliseconds))
}

fn probes(what: &Link) -> u32 {
    u32::try_from(u128::from(what.seconds) * 1000 / EVERY.as_millis()).unwrap_or(u32::MAX)
}

/// The same while a stream fills the way back as far as it can.
fn under_load(what: &Link, scene: &Scene, expected: Duration) -> anyhow::Result<Vec<f64>> {
    let seconds = (what.seconds + 3).to_string();
    std::thread::scope(|scope| {
        let load = scope.spawn(|| iperf::run(&scene.network, "server", "client", &["--time", &seconds]));
        // Until it is at its rate.
        std::thread::sleep(Duration::from_secs(2));
        let errors = errors(what, scene, expected);
        load.join().map_err(|_| anyhow!("the load panicked"))??;
        errors
    })
}

/// Of each probe, in microseconds.
fn errors(what: &Link, scene: &Scene, expected: Duration) -> anyhow::Result<Vec<f64>> {
    let (client, server) = (scene.socket("client")?, scene.socket("server")?);
    client.connect(server.local_addr()?)?;
    server.set_read_timeout(Some(Duration::from_secs(5)))?;
    let base = Instant::now();
    let count = probes(what);
    let mut errors = std::thread::scope(|scope| {
        let receiver = scope.spawn(move || receive(&server, base, count, expected));
        for number in 0..count {
            let next = base + EVERY * number;
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
            let mut probe = [0; PROBE];
            probe[..8].copy_from_slice(&(base.elapsed().as_nanos() as u64).to_be_bytes());
            client.send(&probe)?;
        }
        receiver.join().map_err(|_| anyhow!("the receiver panicked"))?
    })?;
    errors.sort_unstable_by(f64::total_cmp);
    Ok(errors)
}

fn receive(socket: &UdpSocket, base: Instant, count: u32, expected: Duration) -> anyhow::Result<Vec<f64>> {
    let mut errors = Vec::with_capacity(count as usize);
    let mut probe = [0; PROBE];
    for _ in 0..count {
        socket.recv(&mut probe).context("a probe")?;
        let now = base.elapsed().as_nanos() as f64;
        let (sent, _) = probe.split_first_chunk().context("a probe has a time")?;
        errors.push((now - u64::from_be_bytes(*sent) as f64 - expected.as_nanos() as f64) / 1e3);
    }
    Ok(errors)
}

fn show(row: &str, errors: &[f64], goal: Option<Duration>) {
    let quantile = |part: f64| errors[((errors.len() - 1) as f64 * part) as usize];
    let most = errors.iter().fold(0f64, |most, error| most.max(error.abs()));
    let within = goal.map(|goal| quantile(0.99).abs().max(errors[0].abs()) <= goal.as_secs_f64() * 1e6);
    println!(
        "{row:<46} {:>8.1} {:>8.1} {:>8.1} {most:>8.1} {:>8}",
        quantile(0.5),
        quantile(0.9),
        quantile(0.99),
        within.map_or("", met)
    );
}
