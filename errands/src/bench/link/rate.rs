//! How exact a path's rate is: bytes that left the line between two looks, while TCP or UDP sends as much as it can. A line
//! that nobody fills sends less than it could, so what came to it stands beside.
#![allow(clippy::print_stdout, reason = "the table is its purpose")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::anyhow;
use howdah_lab::measure::Processor;

use super::super::arguments::Link;
use super::run::met;
use super::scene::{Scene, element};
use super::{datagrams, iperf};

/// How wrong it may be.
const GOAL: f64 = 0.01;
/// Until a sender is at its rate.
const RAMP: Duration = Duration::from_secs(2);
/// What a sender of datagrams sends, as a multiple of what goes through.
const TOO_MUCH: f64 = 1.1;

/// Who sends.
#[derive(Debug, Clone, Copy)]
enum Sender {
    Tcp,
    /// So many datagrams at once.
    Udp(usize),
}

/// Measures and prints.
pub fn run(what: &Link) -> anyhow::Result<()> {
    println!("Rate on the wire in Mb/s, Ethernet's framing included; goal: within {} %", GOAL * 100.0);
    println!(
        "{:<36} {:>10} {:>10} {:>9} {:>10} {:>9} {:>9} {:>6} {:>8}",
        "", "came", "left", "error", "payload", "dropped", "before", "cores", "goal"
    );
    for megabits in [10, 100, 1000, 5000] {
        row(what, megabits, Sender::Tcp, None)?;
    }
    for megabits in [10, 100, 1000, 5000] {
        row(what, megabits, Sender::Udp(datagrams::many(megabits as f64 * 1e6)), None)?;
    }
    row(what, 1000, Sender::Udp(1), None)?;
    row(what, 1000, Sender::Tcp, Some(false))?;
    row(what, 1000, Sender::Udp(1), Some(false))?;
    row(what, 5000, Sender::Tcp, Some(true))
}

fn row(what: &Link, megabits: u64, sender: Sender, punctual: Option<bool>) -> anyhow::Result<()> {
    let scene = Scene::new(&format!("rate = '{megabits}Mbit'\nrtt = '2ms'"), punctual, 1)?;
    let rate = megabits as f64 * 1e6;
    let (flow, payload) = under(what, &scene, sender, rate)?;
    let error = flow.left / rate - 1.0;
    let kind = match sender {
        Sender::Tcp => "TCP".to_owned(),
        Sender::Udp(at_once) => format!("UDP, {at_once} at once"),
    };
    let mark = match punctual {
        None => "",
        Some(true) => ", punctual",
        Some(false) => ", not punctual",
    };
    println!(
        "{:<36} {:>10.2} {:>10.2} {:>7.3} % {:>10.2} {:>9} {:>9} {:>6.2} {:>8}",
        format!("{megabits} Mb/s, {kind}{mark}"),
        flow.came / 1e6,
        flow.left / 1e6,
        error * 100.0,
        payload / 1e6,
        flow.dropped,
        flow.dropped_before,
        flow.cores,
        met(error.abs() <= GOAL)
    );
    Ok(())
}

/// Looks at the line while somebody sends; what arrived of it, in bits per second.
fn under(what: &Link, scene: &Scene, sender: Sender, rate: f64) -> anyhow::Result<(Flow, f64)> {
    let time = Duration::from_secs(what.seconds);
    let over = AtomicBool::new(false);
    let send = || match sender {
        Sender::Tcp => {
            let seconds = (time + RAMP).as_secs() + 1;
            let arguments = ["--time", &seconds.to_string()];
            anyhow::Ok(iperf::run(&scene.network, "client", "server", &arguments)?.bits_per_second)
        }
        Sender::Udp(at_once) => {
            let start = Instant::now();
            let (from, to) = (scene.socket("client")?, scene.socket("server")?);
            let received = datagrams::run(&from, &to, rate * TOO_MUCH, at_once, &over)?;
            Ok(received as f64 * 8.0 / start.elapsed().as_secs_f64())
        }
    };
    std::thread::scope(|scope| {
        let sender = scope.spawn(send);
        std::thread::sleep(RAMP);
        let flow = Flow::look(scene, time);
        over.store(true, Ordering::Relaxed);
        let payload = sender.join().map_err(|_| anyhow!("the sender panicked"))?;
        Ok((flow?, payload?))
    })
}

/// What the line did in a time.
struct Flow {
    /// To the forwarder, in bits per second.
    came: f64,
    /// From the line.
    left: f64,
    /// Packets that the queue had no room for.
    dropped: u64,
    /// Packets that the forwarder did not get from the interface.
    dropped_before: u64,
    cores: f64,
}

impl Flow {
    fn look(scene: &Scene, time: Duration) -> anyhow::Result<Self> {
        let look = || {
            let (there, before) = (scene.there(), scene.dropped_before("client")?);
            anyhow::Ok((Instant::now(), element(&there, "taken")?, element(&there, "rate")?, before))
        };
        let used = Processor::used();
        let (start, came, left, before) = look()?;
        std::thread::sleep(time);
        let (end, came_then, left_then, before_then) = look()?;
        let seconds = (end - start).as_secs_f64();
        let bits = |then: u64, first: u64| (then - first) as f64 * 8.0 / seconds;
        Ok(Self {
            came: bits(came_then.arrived.bytes, came.arrived.bytes),
            left: bits(left_then.left.bytes, left.left.bytes),
            dropped: left_then.dropped.packets - left.dropped.packets,
            dropped_before: before_then - before,
            cores: Processor::used().since(used).seconds() / seconds,
        })
    }
}
