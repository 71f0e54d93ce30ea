//! Which part of a train does not arrive.

use std::net::UdpSocket;

use anyhow::Result;

use super::options::{Check, ProbeOptions};
use super::train;
use crate::record::unit;
use crate::run::Measured;

/// Measures.
pub fn measure(
    here: &UdpSocket,
    there: &UdpSocket,
    options: &ProbeOptions,
    check: Check<'_>,
) -> Result<Measured> {
    let arrived = train::send(here, there, options, check)?.times.len();
    let mut measured = Measured::default();
    measured.add("lost", 1.0 - arrived as f64 / f64::from(options.count), unit::PART);
    measured.add("bytes", (arrived * options.size) as f64, unit::BYTES);
    Ok(measured)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn nothing_of_a_train_is_lost_on_loopback() {
        let there = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let here = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        here.connect(there.local_addr().expect("bound")).expect("connected");
        // What fits into a socket's buffer, should the receiver be late.
        let options = ProbeOptions { count: 50, interval: Duration::ZERO, size: 64 };
        assert_eq!(measure(&here, &there, &options, &|| Ok(())).expect("figures").figures["lost"].value, 0.0);
    }
}
