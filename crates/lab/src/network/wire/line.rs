//! One direction of a wire: what is on its way, and what was counted. Its forwarder works on it; others look at it.

use std::io;
use std::time::Instant;

use howdah_link::{Counters, Element, Packet, Path, Tally};
use howdah_net::Tun;

use super::{DirectionCounters, ElementCounters, Lateness};
use crate::network::frame::{Frame, FrameMemory};

/// What packets on their way may take: a second at 4 Gb/s, or what 10 Gb/s hold in 0.4 s. More would rather be a fault.
const MEMORY_MOST: usize = 512 << 20;

/// A direction.
#[derive(Debug)]
pub struct Line {
    path: Path<Frame>,
    memory: FrameMemory,
    /// The path does nothing to packets: they are passed on as they come.
    open: bool,
    taken: Counters,
    delivered: Counters,
    late: Lateness,
}

impl Line {
    /// Along that path.
    pub fn new(path: Path<Frame>) -> Self {
        let open = is_open(&path);
        let memory = FrameMemory::new(MEMORY_MOST);
        let (taken, delivered) = (Counters::default(), Counters::default());
        Self { path, memory, open, taken, delivered, late: Lateness::default() }
    }

    /// Along another path from here on.
    pub fn change(&mut self, path: Path<Frame>) {
        (self.open, self.path) = (is_open(&path), path);
    }

    /// When something is to be done though nothing comes in.
    pub fn next_event(&self) -> Option<Instant> {
        self.path.next_event()
    }

    /// Takes a packet from its sender. False: there is none.
    pub fn take(&mut self, from: &Tun, to: &Tun) -> io::Result<bool> {
        let Some(place) = self.memory.place(Tun::LONGEST) else { return self.discard(from) };
        if from.receive(place)?.is_none() {
            return Ok(false);
        }
        let packet = Frame::new(place.split()).into_packet();
        count(&mut self.taken.arrived, &packet);
        count(&mut self.taken.left, &packet);
        if self.open {
            self.give(&packet, to)?;
        } else {
            self.path.push(Instant::now(), packet);
        }
        Ok(true)
    }

    /// Delivers what has come through.
    pub fn deliver(&mut self, to: &Tun) -> io::Result<()> {
        if self.open {
            return Ok(());
        }
        let mut now = Instant::now();
        while let Some((due, packet)) = self.path.poll(now) {
            self.give(&packet, to)?;
            now = Instant::now();
            self.late.count(now.saturating_duration_since(due));
        }
        Ok(())
    }

    fn give(&mut self, packet: &Packet<Frame>, to: &Tun) -> io::Result<()> {
        count(&mut self.delivered.arrived, packet);
        let taken = to.send(packet.body.bytes())?;
        count(if taken { &mut self.delivered.left } else { &mut self.delivered.dropped }, packet);
        Ok(())
    }

    /// Takes a packet for which there is no room.
    fn discard(&mut self, from: &Tun) -> io::Result<bool> {
        let mut place = bytes::BytesMut::with_capacity(Tun::LONGEST);
        if from.receive(&mut place)?.is_none() {
            return Ok(false);
        }
        let packet = Frame::new(place).into_packet();
        count(&mut self.taken.arrived, &packet);
        count(&mut self.taken.dropped, &packet);
        Ok(true)
    }

    /// What was counted.
    pub fn counters(&self) -> DirectionCounters {
        let own = |name: &str, counters| ElementCounters { name: name.to_owned(), counters };
        let mut elements = vec![own("taken", self.taken)];
        elements.extend(self.path.report().map(|(name, counters)| own(name, counters)));
        elements.push(own("delivered", self.delivered));
        DirectionCounters { elements, late: self.late }
    }
}

fn is_open(path: &Path<Frame>) -> bool {
    path.report().next().is_none()
}

fn count(tally: &mut Tally, packet: &Packet<Frame>) {
    tally.packets += u64::from(packet.segments);
    tally.bytes += packet.bytes as u64;
}
