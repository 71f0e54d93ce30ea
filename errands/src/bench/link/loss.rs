//! Whether as much is lost as a path says: datagrams counted at both ends, and the segments of TCP's super-packets.
#![allow(clippy::print_stdout, reason = "the table is its purpose")]

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::anyhow;

use super::super::arguments::Link;
use super::iperf;
use super::run::met;
use super::scene::{Scene, element};

/// Datagrams of a row.
const COUNT: u64 = 200_000;
/// So many may be on their way: less than a socket holds of such small ones.
const WINDOW: u64 = 100;
/// The deviation that one of a hundred measurements exceeds.
const DEVIATIONS: f64 = 2.576;

/// Measures and prints.
pub fn run(what: &Link) -> anyhow::Result<()> {
    println!(
        "Loss in percent, of {COUNT} datagrams each, or of TCP's segments; goal: within its confidence interval of 99 %"
    );
    println!("{:<44} {:>10} {:>10} {:>20} {:>8}", "", "says", "lost", "interval", "goal");
    for percent in [0.01, 0.1, 1.0, 10.0] {
        let scene = Scene::new(&format!("loss = '{percent}%'"), None, what.seed)?;
        show(&format!("{percent} %, each by itself, UDP"), percent, datagrams(&scene)?, 1.0);
    }
    // How much longer bursts make the interval: (1 + r) / (1 - r), where r is what two neighbours have in common.
    let (percent, length): (f64, f64) = (1.0, 4.0);
    let common = 1.0 - 1.0 / length - percent / 100.0 / (1.0 - percent / 100.0) / length;
    let scene =
        Scene::new(&format!("bursts = {{ loss = '{percent}%', length = {length} }}"), None, what.seed)?;
    show(
        &format!("{percent} %, bursts of {length}, UDP"),
        percent,
        datagrams(&scene)?,
        (1.0 + common) / (1.0 - common),
    );
    for percent in [0.01, 0.1] {
        let scene = Scene::new(&format!("loss = '{percent}%'\nrate = '1Gbit'"), None, what.seed)?;
        let seconds = what.seconds.to_string();
        iperf::run(&scene.network, "client", "server", &["--time", &seconds])?;
        let counted = element(&scene.there(), "loss")?;
        let seen = (counted.arrived.packets, counted.dropped.packets);
        show(&format!("{percent} %, each by itself, {} segments of TCP", seen.0), percent, seen, 1.0);
    }
    Ok(())
}

fn show(row: &str, percent: f64, (sent, lost): (u64, u64), wider: f64) {
    let part = percent / 100.0;
    let deviation = DEVIATIONS * (part * (1.0 - part) * wider / sent as f64).sqrt();
    let seen = lost as f64 / sent as f64;
    println!(
        "{row:<44} {percent:>10.3} {:>10.4} {:>20} {:>8}",
        seen * 100.0,
        format!("{:.4} - {:.4}", (part - deviation).max(0.0) * 100.0, (part + deviation) * 100.0),
        met((seen - part).abs() <= deviation)
    );
}

/// Sends datagrams; how many, and how many did not arrive.
fn datagrams(scene: &Scene) -> anyhow::Result<(u64, u64)> {
    let (client, server) = (scene.socket("client")?, scene.socket("server")?);
    client.connect(server.local_addr()?)?;
    server.set_read_timeout(Some(Duration::from_millis(100)))?;
    let (newest, over) = (AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let receiver = scope.spawn(|| receive(&server, &newest, &over));
        for number in 1..=COUNT {
            client.send(&number.to_be_bytes())?;
            wait_for_room(number, &newest);
        }
        over.store(true, Ordering::Relaxed);
        let received = receiver.join().map_err(|_| anyhow!("the receiver panicked"))??;
        Ok((COUNT, COUNT - received))
    })
}

/// Until not too many are on their way; those that are lost do not hold it up for long.
fn wait_for_room(number: u64, newest: &AtomicU64) {
    let start = Instant::now();
    while number - newest.load(Ordering::Relaxed).min(number) > WINDOW
        && start.elapsed() < Duration::from_millis(20)
    {
        std::thread::yield_now();
    }
}

/// How many arrive.
fn receive(socket: &UdpSocket, newest: &AtomicU64, over: &AtomicBool) -> anyhow::Result<u64> {
    let (mut count, mut number) = (0, [0; 8]);
    loop {
        match socket.recv(&mut number) {
            Ok(_) => {
                count += 1;
                newest.store(u64::from_be_bytes(number), Ordering::Relaxed);
            }
            // Nothing for a while, and nothing more to come.
            Err(_) if over.load(Ordering::Relaxed) => return Ok(count),
            Err(_) => {}
        }
    }
}
