//! A train of numbered datagrams in one direction, and what of it arrived when.

use std::net::UdpSocket;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::options::{Check, ProbeOptions, number_of};

/// After the last datagram was sent, and none arrived for this long, none will.
const SILENCE: Duration = Duration::from_secs(2);

/// What arrived.
#[derive(Debug, Default, Clone)]
pub struct Arrived {
    /// When each first arrival was, after the train began, in order of arrival.
    pub times: Vec<Duration>,
}

/// Sends the train, and receives it at the other end.
pub fn send(
    here: &UdpSocket,
    there: &UdpSocket,
    options: &ProbeOptions,
    check: Check<'_>,
) -> Result<Arrived> {
    there.set_read_timeout(Some(SILENCE)).context("limiting a wait")?;
    let began = Instant::now();
    thread::scope(|scope| {
        let receiver = scope.spawn(|| receive(there, options.count, began));
        let sent = pace(here, options, began, check);
        let arrived = receiver.join().expect("receiving does not panic");
        sent.map(|()| arrived)
    })
}

/// Each datagram at its time; late ones at once, so that the whole takes what it should.
fn pace(here: &UdpSocket, options: &ProbeOptions, began: Instant, check: Check<'_>) -> Result<()> {
    for number in 0..options.count {
        check()?;
        let due = began + options.interval * number;
        if let Some(early) = due.checked_duration_since(Instant::now()) {
            thread::sleep(early);
        }
        here.send(&options.datagram(number)).context("sending")?;
    }
    Ok(())
}

fn receive(there: &UdpSocket, count: u32, began: Instant) -> Arrived {
    let mut seen = vec![false; count as usize];
    let mut arrived = Arrived::default();
    let mut buffer = [0; 2048];
    while arrived.times.len() < seen.len() {
        let Ok(length) = there.recv(&mut buffer) else { break };
        let number = number_of(&buffer[..length]).and_then(|number| seen.get_mut(number as usize));
        // A second copy is no other datagram.
        if let Some(seen) = number.filter(|seen| !**seen) {
            *seen = true;
            arrived.times.push(began.elapsed());
        }
    }
    arrived
}
