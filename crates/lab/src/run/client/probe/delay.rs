//! Round trips of single datagrams: one at a time, so that none waits for another.

use std::io::ErrorKind;
use std::net::UdpSocket;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::options::{Check, ProbeOptions, number_of};
use crate::run::Measured;

/// One that has not come back after this long is lost.
const PATIENCE: Duration = Duration::from_secs(1);
/// More of them, one after the other, and there is no path.
const TRIES: u32 = 5;
/// Round trips that do not count: routes, neighbours and caches are looked up in them.
const WARM_UP: u32 = 5;
/// Ends the other end. Not a number that a round trip has.
const END: u32 = u32::MAX;

/// Measures.
pub fn measure(
    here: &UdpSocket,
    there: &UdpSocket,
    options: &ProbeOptions,
    check: Check<'_>,
) -> Result<Measured> {
    here.set_read_timeout(Some(PATIENCE)).context("limiting a wait")?;
    // Longer than nothing can come while the probe goes on, so that the other end ends even if no message says so.
    let most = (PATIENCE + options.interval) * (TRIES + 1);
    there.set_read_timeout(Some(most)).context("limiting a wait")?;
    thread::scope(|scope| {
        scope.spawn(|| echo(there));
        let times = round_trips(here, options, check);
        // To itself: no path is between.
        let ended = there.local_addr().and_then(|itself| there.send_to(&options.datagram(END), itself));
        ended.context("ending a probe's other end")?;
        summary(&times?, options.count)
    })
}

/// Sends back what comes, until a message asks it to end.
fn echo(there: &UdpSocket) {
    let mut buffer = [0; 2048];
    while let Ok((length, from)) = there.recv_from(&mut buffer) {
        if number_of(&buffer[..length]) == Some(END) {
            return;
        }
        // What cannot be sent back is lost, as on a path.
        let _ = there.send_to(&buffer[..length], from);
    }
}

/// Those that came back. A path may lose some, but not many in a row.
fn round_trips(here: &UdpSocket, options: &ProbeOptions, check: Check<'_>) -> Result<Vec<Duration>> {
    let mut times = Vec::new();
    let mut lost = 0;
    for number in 0..WARM_UP + options.count {
        check()?;
        match round_trip(here, &options.datagram(number), number)? {
            None => lost += 1,
            Some(took) => {
                lost = 0;
                times.extend((number >= WARM_UP).then_some(took));
            }
        }
        ensure!(lost < TRIES, "{TRIES} datagrams in a row did not come back");
        thread::sleep(options.interval);
    }
    Ok(times)
}

/// How long it took; none if it is lost.
fn round_trip(here: &UdpSocket, datagram: &[u8], number: u32) -> Result<Option<Duration>> {
    let began = Instant::now();
    here.send(datagram).context("sending")?;
    let mut buffer = [0; 2048];
    loop {
        match here.recv(&mut buffer) {
            Ok(length) if number_of(&buffer[..length]) == Some(number) => return Ok(Some(began.elapsed())),
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return Ok(None);
            }
            Err(error) => return Err(error).context("waiting for a datagram to come back"),
        }
    }
}

fn summary(times: &[Duration], sent: u32) -> Result<Measured> {
    match times.is_empty() {
        true => bail!("nothing came back"),
        false => Ok(Measured::of_replies(times.iter().map(Duration::as_secs_f64).collect(), f64::from(sent))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_of_loopback_are_all_there() {
        let there = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let here = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        here.connect(there.local_addr().expect("bound")).expect("connected");
        let options = ProbeOptions { count: 20, interval: Duration::ZERO, size: 64 };
        let measured = measure(&here, &there, &options, &|| Ok(())).expect("figures");
        assert!(measured.figures["p50"].value > 0.0);
        assert!(measured.figures["p50"].value <= measured.figures["worst"].value);
    }

    #[test]
    fn it_ends_when_the_cell_does() {
        let there = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let here = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        here.connect(there.local_addr().expect("bound")).expect("connected");
        let options = ProbeOptions { count: 1_000_000, interval: Duration::from_secs(1), size: 64 };
        let error = measure(&here, &there, &options, &|| bail!("interrupted")).expect_err("it was stopped");
        assert_eq!(error.to_string(), "interrupted");
    }

    #[test]
    fn the_middle_is_the_median() {
        let times: Vec<_> = (1..=100).map(Duration::from_millis).collect();
        let figures = summary(&times, 100).expect("figures").figures;
        assert_eq!((figures["p50"].value, figures["p99"].value, figures["worst"].value), (0.05, 0.099, 0.1));
    }
}
