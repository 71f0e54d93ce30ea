//! What a path carries of a train that offers more than it can: payload per second at its other end.

use std::net::UdpSocket;
use std::time::Duration;

use anyhow::{Result, ensure};

use super::options::{Check, ProbeOptions};
use super::train;
use crate::run::Measured;

/// The first arrivals do not count: the path's queue is filled by then.
const WARM_UP: Duration = Duration::from_millis(500);

/// Measures.
pub fn measure(
    here: &UdpSocket,
    there: &UdpSocket,
    options: &ProbeOptions,
    check: Check<'_>,
) -> Result<Measured> {
    let end = options.interval * options.count;
    let arrived = train::send(here, there, options, check)?;
    let (count, seconds) = carried(&arrived.times, end)?;
    let mut measured = Measured::default();
    measured.add_bytes((count * options.size) as f64, seconds);
    Ok(measured)
}

/// Datagrams, and the seconds in which they came: between the first and the last arrival that count, while the train was
/// being sent. The first one only begins the time.
fn carried(times: &[Duration], end: Duration) -> Result<(usize, f64)> {
    let counted: Vec<Duration> = times.iter().copied().filter(|time| (WARM_UP..end).contains(time)).collect();
    ensure!(counted.len() > 1, "too little arrived to tell a rate");
    let seconds = (counted[counted.len() - 1] - counted[0]).as_secs_f64();
    Ok((counted.len() - 1, seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_steady_middle() {
        // One each 10 ms from 0.1 s on; the end of the train is at 1.5 s, the rest is the queue running dry.
        let times: Vec<Duration> = (10..300).map(|number| Duration::from_millis(number * 10)).collect();
        let (count, seconds) = carried(&times, Duration::from_millis(1500)).expect("a rate");
        assert!((count as f64 / seconds - 100.0).abs() < 1e-9, "{count} in {seconds}");
        assert!(carried(&times[..3], Duration::from_millis(1500)).is_err());
    }
}
