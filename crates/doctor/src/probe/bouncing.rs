//! Whatever has packets come back from the other end.

use std::io;
use std::time::{Duration, Instant};

use howdah_net::{Echo, Echoed};

/// Packets go out by number, and come back. Lengths are those of packets, headers included.
pub trait Bouncing {
    /// How, in a word.
    fn by(&self) -> &'static str;

    /// The shortest packet.
    fn shortest(&self) -> usize;

    /// The longest one that goes there, as the kernel knows by now.
    fn path_mtu(&self) -> Option<usize>;

    /// Sends one, which is never cut.
    fn send(&self, number: u16, packet: usize) -> io::Result<()>;

    /// Waits for any.
    fn receive(&self, most: Duration) -> io::Result<Echoed>;

    /// Waits for the one of this number.
    fn receive_number(&self, number: u16, most: Duration) -> io::Result<Echoed> {
        let until = Instant::now() + most;
        loop {
            match self.receive(until.saturating_duration_since(Instant::now()))? {
                Echoed::Came(other) if other != number => {}
                outcome => return Ok(outcome),
            }
        }
    }
}

impl Bouncing for Echo {
    fn by(&self) -> &'static str {
        "icmp"
    }

    fn shortest(&self) -> usize {
        Self::shortest(self)
    }

    fn path_mtu(&self) -> Option<usize> {
        Self::path_mtu(self)
    }

    fn send(&self, number: u16, packet: usize) -> io::Result<()> {
        Self::send(self, number, packet)
    }

    fn receive(&self, most: Duration) -> io::Result<Echoed> {
        Self::receive(self, most)
    }
}
