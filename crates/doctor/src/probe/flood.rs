//! Sends as fast as it goes, throws answers away, and measures what the path took.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use howdah_net::{Connection, Place, Readiness, Sent, Wait, sample};
use howdah_tune::{Gauges, Sample};

use crate::facts::RateFacts;
use crate::send_buffer::make_room;

/// It lasts so many round trips, at least and at most so long: bbr and cubic find their rate in 20 or fewer.
const ROUND_TRIPS: u32 = 30;
const LEAST: Duration = Duration::from_millis(1200);
const MOST: Duration = Duration::from_secs(4);
/// The part of that time in which it begins, and does not count.
const BEGINNING: f64 = 0.4;
/// A part of the time in which a window or a buffer held back beyond which that is what limits: the kernel counts stalls,
/// not how much they cost.
const HELD_BACK: f64 = 0.05;
/// As much of the window in use is all of it.
const WINDOW_USED: f64 = 0.85;

/// How long a path of that round trip is flooded.
pub fn lasts(round_trip: Duration) -> Duration {
    (round_trip * ROUND_TRIPS).clamp(LEAST, MOST)
}

/// The longest packet, with the headers of IP and of TCP with its timestamps; none of no segment.
pub fn packet_of(segment: u64, peer: SocketAddr) -> Option<u64> {
    let headers = if peer.is_ipv6() { 40 } else { 20 } + 32;
    (segment > 0).then_some(segment + headers)
}

/// Between two looks.
fn rate_of(early: &Sample, late: &Sample, peer: SocketAddr, by: &str) -> Option<RateFacts> {
    let seconds = late.at.saturating_sub(early.at).as_secs_f64();
    let delivered = |sample: &Sample| {
        let sending = &sample.sending;
        sending.sent.saturating_sub(sending.retransmitted + sending.flight)
    };
    let bytes = delivered(late).saturating_sub(delivered(early));
    if bytes == 0 || seconds <= 0.0 {
        return None;
    }
    let sent = late.sending.sent.saturating_sub(early.sending.sent);
    let again = late.sending.retransmitted.saturating_sub(early.sending.retransmitted);
    Some(RateFacts {
        by: by.to_owned(),
        bytes_per_second: bytes as f64 / seconds,
        sent_again: Some(again as f64 / sent.max(1) as f64),
        round_trip: Some(late.path.rtt.as_secs_f64()),
        packet: packet_of(late.path.segment, peer),
        held_back_by: held_back(early, late, seconds),
    })
}

fn held_back(early: &Sample, late: &Sample, seconds: f64) -> Option<String> {
    let part = |of: fn(&Sample) -> Duration| of(late).saturating_sub(of(early)).as_secs_f64() / seconds;
    let (flight, window) = (late.sending.flight as f64, late.sending.peer_window);
    let megabytes = |bytes: u64| howdah_units::bytes(bytes as f64);
    if let Some(window) = window.filter(|window| flight > *window as f64 * WINDOW_USED) {
        return Some(format!("the server's window of {}", megabytes(window)));
    }
    if part(|sample| sample.sending.limited_by_buffer) > HELD_BACK {
        return Some(format!("our send buffer of {}", megabytes(late.sending.buffer)));
    }
    None
}

/// Bytes that are sent again and again.
pub struct Flood {
    bytes: Vec<u8>,
    /// How many of them went.
    sent: usize,
    answers: Vec<u8>,
}

impl Flood {
    /// Of these bytes.
    pub fn of(bytes: Vec<u8>) -> Self {
        Self { bytes, sent: 0, answers: Vec::new() }
    }

    /// Sends for so long, and measures what the path took meanwhile. The connection is over then.
    ///
    /// # Errors
    /// It breaks.
    pub fn measure(
        mut self,
        connection: &Connection,
        lasts: Duration,
        by: &str,
    ) -> io::Result<Option<RateFacts>> {
        make_room(connection.as_fd());
        let begin = Instant::now();
        let look = || sample(connection.as_fd(), begin.elapsed(), &Gauges::default());
        self.run(connection, begin + lasts.mul_f64(BEGINNING))?;
        let early = look()?;
        self.run(connection, begin + lasts)?;
        let late = look()?;
        connection.shut_down();
        Ok(rate_of(&early, &late, connection.peer(), by))
    }

    fn run(&mut self, connection: &Connection, until: Instant) -> io::Result<()> {
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            let ready = connection.wait(Readiness { readable: true, writable: true }, left)?;
            if ready.readable {
                self.answers.clear();
                let mut places = [Place { buffer: &mut self.answers, most: 64 << 10 }];
                if connection.receive(&mut places, Wait::No)? == Sent::Bytes(0) {
                    return Err(io::ErrorKind::ConnectionAborted.into());
                }
            }
            if ready.writable {
                self.send(connection)?;
            }
        }
        Ok(())
    }

    fn send(&mut self, connection: &Connection) -> io::Result<()> {
        let pieces = [IoSlice::new(&self.bytes[self.sent..]), IoSlice::new(&self.bytes)];
        if let Sent::Bytes(count) = connection.send(&pieces, false)? {
            self.sent = (self.sent + count) % self.bytes.len();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(at: f64, sent: u64, flight: u64) -> Sample {
        let mut sample = Sample { at: Duration::from_secs_f64(at), ..Sample::default() };
        (sample.sending.sent, sample.sending.flight) = (sent, flight);
        sample.path.segment = 1448;
        sample
    }

    fn between(early: &Sample, late: &Sample) -> Option<RateFacts> {
        rate_of(early, late, "10.0.0.1:2049".parse().expect("an address"), "calls")
    }

    #[test]
    fn what_was_acknowledged_between_two_looks_counts() {
        let found = between(&look(1.0, 1_000_000, 400_000), &look(2.0, 2_500_000, 900_000)).expect("bytes");
        assert_eq!((found.bytes_per_second, found.packet), (1e6, Some(1500)));
        assert_eq!(found.held_back_by, None);
        assert_eq!(between(&look(1.0, 5000, 5000), &look(2.0, 9000, 9000)), None, "nothing arrived");
        assert_eq!(packet_of(1428, "[fd00::1]:2049".parse().expect("an address")), Some(1500));
    }

    #[test]
    fn a_window_that_is_used_up_is_named() {
        let mut late = look(2.0, 2_500_000, 900_000);
        late.sending.peer_window = Some(1_000_000);
        let held_back = between(&look(1.0, 0, 0), &late).expect("bytes").held_back_by;
        assert_eq!(held_back.as_deref(), Some("the server's window of 1.0 MB"));
        late.sending.peer_window = None;
        (late.sending.limited_by_buffer, late.sending.buffer) = (Duration::from_millis(200), 212_992);
        let held_back = between(&look(1.0, 0, 0), &late).expect("bytes").held_back_by;
        assert_eq!(held_back.as_deref(), Some("our send buffer of 213.0 kB"));
    }
}
