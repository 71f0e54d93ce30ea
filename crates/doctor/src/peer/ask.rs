//! Asks a doctor at the other end.

use std::io::{self, ErrorKind, IoSlice};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use howdah_net::{
    ConnectSettings, Connection, Echoed, Place, Readiness, Sent, UdpClient, Wait, is_too_large, sample,
};
use howdah_tune::{Gauges, Sample};

use super::datagram::{HEAD, Head, SECRET};
use super::request::{Request, SECONDS_MOST};
use crate::facts::{HostFacts, RateFacts};
use crate::probe::Bouncing;
use crate::probe::flood::{Flood, lasts, packet_of};

/// Who does not answer so soon is not there.
const PATIENCE: Duration = Duration::from_secs(1);
/// The longest answer: the facts of a host have some 2 KB.
const ANSWER_MOST: usize = 64 << 10;
/// And the longest that one may take.
const ANSWER_LASTS: Duration = Duration::from_secs(5);
/// How long a receive waits before it looks again.
const TICK: Duration = Duration::from_millis(10);
/// Headers of IP and UDP.
const HEADERS_V4: usize = 28;
const HEADERS_V6: usize = 48;
/// The part of the time in which a transfer begins, and does not count.
const BEGINNING: f64 = 0.4;
/// As much of our window in use is all of it.
const WINDOW_USED: f64 = 0.85;

/// A doctor that listens.
#[derive(Debug, Clone, Copy)]
pub struct Peer {
    address: SocketAddr,
}

impl Peer {
    /// The one at this address, if one listens there, and the facts of its host.
    pub fn find(address: SocketAddr) -> io::Result<(Self, HostFacts)> {
        let peer = Self { address };
        let connection = peer.ask(Request::Facts)?;
        let answer = hear(&connection, |_| false)?;
        let facts = serde_json::from_slice(&answer).map_err(|_| io::Error::from(ErrorKind::InvalidData))?;
        Ok((peer, facts))
    }

    /// What the path carries there.
    pub fn there(&self, round_trip: Duration) -> io::Result<Option<RateFacts>> {
        let connection = self.ask(Request::Take)?;
        Flood::of(vec![0; 64 << 10]).measure(&connection, lasts(round_trip), "to howdah doctor")
    }

    /// What it carries back.
    pub fn back(&self, round_trip: Duration) -> io::Result<Option<RateFacts>> {
        let lasts = lasts(round_trip);
        let connection = self.ask(Request::Send((lasts.as_secs() + 1).min(SECONDS_MOST)))?;
        let begin = Instant::now();
        let look = || sample(connection.as_fd(), begin.elapsed(), &Gauges::default());
        let mut taken = Vec::new();
        take_until(&connection, &mut taken, begin + lasts.mul_f64(BEGINNING))?;
        let early = look()?;
        take_until(&connection, &mut taken, begin + lasts)?;
        let late = look()?;
        connection.shut_down();
        Ok(rate_back(&early, &late, self.address))
    }

    /// Datagrams that come back, as long as this lives.
    pub fn bouncer(&self) -> io::Result<Bouncer> {
        let connection = self.ask(Request::Bounce)?;
        let line = answer(&connection)?;
        let secret = u64::from_str_radix(&line, 16).map_err(|_| ErrorKind::InvalidData)?;
        let socket = UdpClient::connect(self.address, false, TICK)?;
        socket.forbid_cutting()?;
        Ok(Bouncer { connection, socket, secret: secret.to_be_bytes(), is_short_wanted: false })
    }

    fn ask(&self, request: Request) -> io::Result<Connection> {
        let settings = ConnectSettings {
            timeout: PATIENCE,
            silence: PATIENCE * 5,
            reserved_port: false,
            from: None,
            tick: TICK,
            window: None,
        };
        let connection = Connection::open(self.address, &settings)?;
        connection.send(&[IoSlice::new(request.line().as_bytes())], false)?;
        Ok(connection)
    }
}

/// What came between two looks at a connection that only receives.
fn rate_back(early: &Sample, late: &Sample, peer: SocketAddr) -> Option<RateFacts> {
    let bytes = late.receiving.received.saturating_sub(early.receiving.received);
    let seconds = late.at.saturating_sub(early.at).as_secs_f64();
    let rate = RateFacts {
        by: "from howdah doctor".to_owned(),
        bytes_per_second: bytes as f64 / seconds,
        // What came, and not what we would send: the ways may differ.
        packet: packet_of(late.receiving.segment, peer),
        ..RateFacts::default()
    };
    let flight = rate.bytes_per_second * late.base_rtt().as_secs_f64();
    let window = late.receiving.window.filter(|window| flight > *window as f64 * WINDOW_USED);
    let held_back_by = window.map(|window| format!("our window of {}", howdah_units::bytes(window as f64)));
    (bytes > 0 && seconds > 0.0).then_some(RateFacts { held_back_by, ..rate })
}

/// Receives something; false: the other has closed.
fn receive(connection: &Connection, into: &mut Vec<u8>, most: Duration) -> io::Result<bool> {
    let ready = connection.wait(Readiness { readable: true, writable: false }, most)?;
    if !ready.readable {
        return Err(ErrorKind::TimedOut.into());
    }
    let mut places = [Place { buffer: into, most: 256 << 10 }];
    Ok(connection.receive(&mut places, Wait::No)? != Sent::Bytes(0))
}

fn take_until(connection: &Connection, taken: &mut Vec<u8>, until: Instant) -> io::Result<()> {
    while let Some(left) = until.checked_duration_since(Instant::now()) {
        taken.clear();
        match receive(connection, taken, left) {
            Ok(true) => {}
            Ok(false) => return Err(ErrorKind::ConnectionAborted.into()),
            Err(error) if error.kind() == ErrorKind::TimedOut => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// What the other says until it is whole, or has closed. The program that listens there need not be a doctor.
fn hear(connection: &Connection, is_whole: impl Fn(&[u8]) -> bool) -> io::Result<Vec<u8>> {
    let until = Instant::now() + ANSWER_LASTS;
    let mut heard = Vec::new();
    while !is_whole(&heard) {
        let left = until.checked_duration_since(Instant::now()).ok_or(ErrorKind::TimedOut)?;
        if !receive(connection, &mut heard, left)? {
            break;
        }
        if heard.len() > ANSWER_MOST {
            return Err(ErrorKind::InvalidData.into());
        }
    }
    Ok(heard)
}

/// A line.
fn answer(connection: &Connection) -> io::Result<String> {
    let heard = hear(connection, |heard| heard.ends_with(b"\n"))?;
    if !heard.ends_with(b"\n") {
        return Err(ErrorKind::ConnectionAborted.into());
    }
    let heard = String::from_utf8(heard).map_err(|_| io::Error::from(ErrorKind::InvalidData))?;
    Ok(heard.trim().to_owned())
}

/// Datagrams that the other doctor sends back.
#[derive(Debug)]
pub struct Bouncer {
    connection: Connection,
    socket: UdpClient,
    secret: [u8; SECRET],
    is_short_wanted: bool,
}

impl Bouncer {
    /// How many have arrived there so far.
    pub fn arrived(&self) -> io::Result<u64> {
        self.connection.send(&[IoSlice::new(b"count\n")], false)?;
        answer(&self.connection)?.parse().map_err(|_| ErrorKind::InvalidData.into())
    }

    /// Only the heads come back from now on: what is too long for the way back still is answered.
    pub fn want_short(&mut self) {
        self.is_short_wanted = true;
    }

    fn headers(&self) -> usize {
        if self.socket.server().is_ipv6() { HEADERS_V6 } else { HEADERS_V4 }
    }
}

impl Bouncing for Bouncer {
    fn by(&self) -> &'static str {
        "udp"
    }

    fn shortest(&self) -> usize {
        self.headers() + HEAD
    }

    fn path_mtu(&self) -> Option<usize> {
        Some(self.socket.path_mtu())
    }

    fn send(&self, number: u16, packet: usize) -> io::Result<()> {
        let head = Head { secret: self.secret, is_short_wanted: self.is_short_wanted, number };
        let ballast = vec![0; packet.saturating_sub(self.shortest())];
        match self.socket.send(&[IoSlice::new(&head.bytes()), IoSlice::new(&ballast)])? {
            Sent::Bytes(_) => Ok(()),
            Sent::WouldBlock => Err(ErrorKind::WouldBlock.into()),
        }
    }

    fn receive(&self, most: Duration) -> io::Result<Echoed> {
        let until = Instant::now() + most;
        loop {
            self.socket.wait_to_receive(Some(until))?;
            let mut came = Vec::new();
            match self.socket.receive(&mut [Place { buffer: &mut came, most: HEAD }], Wait::No) {
                Ok(Sent::Bytes(_)) => {
                    if let Some(head) = Head::parse(&came).filter(|head| head.secret == self.secret) {
                        return Ok(Echoed::Came(head.number));
                    }
                }
                Ok(Sent::WouldBlock) => {}
                Err(error) if is_too_large(&error) => return Ok(Echoed::TooLarge),
                Err(error) => return Err(error),
            }
            if Instant::now() >= until {
                return Ok(Echoed::Nothing);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packets_of_the_way_back_are_those_that_came() {
        let look = |second, received| {
            let mut sample = Sample { at: Duration::from_secs(second), ..Sample::default() };
            (sample.path.segment, sample.receiving.segment) = (1448, 1348);
            sample.receiving.received = received;
            sample
        };
        let peer = "10.0.0.1:20490".parse().expect("an address");
        let back = rate_back(&look(1, 0), &look(2, 1_000_000), peer).expect("bytes");
        assert_eq!((back.bytes_per_second, back.packet), (1e6, Some(1400)));
    }
}
