//! Round trips of single datagrams: one at a time, so that none waits for another.

use std::net::UdpSocket;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::options::{Options, number_of};
use crate::record::unit;
use crate::run::Measured;

/// One that has not come back after this long is lost.
const PATIENCE: Duration = Duration::from_secs(3);
/// Round trips that do not count: routes, neighbours and caches are looked up in them.
const WARM_UP: u32 = 5;

/// Measures.
pub fn measure(here: &UdpSocket, there: &UdpSocket, options: &Options) -> Result<Measured> {
    here.set_read_timeout(Some(PATIENCE)).context("limiting a wait")?;
    there.set_read_timeout(Some(PATIENCE)).context("limiting a wait")?;
    let mut times = Vec::new();
    thread::scope(|scope| -> Result<()> {
        scope.spawn(|| echo(there, WARM_UP + options.count));
        for number in 0..WARM_UP + options.count {
            let took = round_trip(here, &options.datagram(number), number)?;
            if number >= WARM_UP {
                times.push(took);
            }
            thread::sleep(options.interval);
        }
        Ok(())
    })?;
    told(times)
}

/// Sends back what comes, until all came or nothing does any more.
fn echo(there: &UdpSocket, count: u32) {
    let mut buffer = [0; 2048];
    for _ in 0..count {
        let Ok((length, from)) = there.recv_from(&mut buffer) else { return };
        if there.send_to(&buffer[..length], from).is_err() {
            return;
        }
    }
}

fn round_trip(here: &UdpSocket, datagram: &[u8], number: u32) -> Result<Duration> {
    let began = Instant::now();
    here.send(datagram).context("sending")?;
    let mut buffer = [0; 2048];
    loop {
        let length = here.recv(&mut buffer).context("waiting for a datagram to come back")?;
        if number_of(&buffer[..length]) == Some(number) {
            return Ok(began.elapsed());
        }
    }
}

fn told(mut times: Vec<Duration>) -> Result<Measured> {
    times.sort();
    let (Some(worst), count) = (times.last(), times.len()) else { bail!("nothing came back") };
    let at = |part: f64| times[((count as f64 * part).ceil() as usize).clamp(1, count) - 1].as_secs_f64();
    let mut measured = Measured::default();
    measured.add("worst", worst.as_secs_f64(), unit::SECONDS);
    measured.add("mean", times.iter().sum::<Duration>().as_secs_f64() / count as f64, unit::SECONDS);
    let fractions = [0.01, 0.1, 0.5, 0.9, 0.95, 0.99];
    for fraction in fractions {
        measured.add(&format!("p{}", (fraction * 100.0_f64).round()), at(fraction), unit::SECONDS);
    }
    measured.latencies.insert(String::new(), fractions.map(|fraction| (fraction, at(fraction))).to_vec());
    Ok(measured)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_of_loopback_are_all_there() {
        let there = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let here = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        here.connect(there.local_addr().expect("bound")).expect("connected");
        let options = Options { count: 20, interval: Duration::ZERO, size: 64 };
        let measured = measure(&here, &there, &options).expect("figures");
        assert!(measured.figures["p50"].value > 0.0);
        assert!(measured.figures["p50"].value <= measured.figures["worst"].value);
    }

    #[test]
    fn the_middle_is_the_median() {
        let times = (1..=100).map(Duration::from_millis).collect();
        let figures = told(times).expect("figures").figures;
        assert_eq!((figures["p50"].value, figures["p99"].value, figures["worst"].value), (0.05, 0.099, 0.1));
    }
}
