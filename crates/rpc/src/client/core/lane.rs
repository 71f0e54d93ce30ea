//! One lane: its connection, if it has one, and what it delivers.

use std::collections::VecDeque;
use std::time::Duration;

use super::output::LaneSketch;
use crate::client::lanes::{Candidate, LaneMeter, Outage, Watch};

/// A lane.
#[derive(Debug, Default)]
pub(super) struct Lane {
    link: Option<Link>,
    /// The xids of calls that may go out, in order.
    pub(super) ready: VecDeque<u32>,
    /// Calls that it carries, and how many of them have a buffer for data.
    load: usize,
    wants_data: usize,
    /// What it delivers.
    pub(super) meter: LaneMeter,
    /// It was stuck, or is new beside others, and has delivered nothing since: others are used before it.
    pub(super) is_suspect: bool,
    pub(super) watch: Watch,
    pub(super) outage: Outage,
    /// Which connection the outage is judged by.
    pub(super) outage_of: Option<u64>,
    connections: u64,
    received_before: u64,
}

/// A connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    /// Which connection of the channel it is, from 1.
    pub(super) number: u64,
    /// When something was last received, or it was made.
    pub(super) heard: Duration,
    /// Bytes received.
    pub(super) received: u64,
    /// It is of no use any more.
    is_broken: bool,
}

impl Lane {
    /// Its connection, if that is of use.
    pub(super) fn live(&self) -> Option<&Link> {
        self.link.as_ref().filter(|link| !link.is_broken)
    }

    /// Its connection, of use or not.
    pub(super) fn link(&self) -> Option<&Link> {
        self.link.as_ref()
    }

    /// It is connected.
    pub(super) fn on_connected(&mut self, number: u64, now: Duration) {
        self.connections += 1;
        self.link = Some(Link { number, heard: now, received: 0, is_broken: false });
    }

    /// A connection is of no use any more; whether it was.
    pub(super) fn on_broken(&mut self, number: u64) -> bool {
        let link = self.link.as_mut().filter(|link| link.number == number);
        link.is_some_and(|link| !std::mem::replace(&mut link.is_broken, true))
    }

    /// Its connection is gone; gives what was received over it.
    pub(super) fn on_gone(&mut self) -> u64 {
        self.watch = Watch::default();
        let received = self.link.take().map_or(0, |link| link.received);
        self.received_before += received;
        received
    }

    /// Something was received.
    pub(super) fn on_heard(&mut self, bytes: u64, now: Duration) {
        if let Some(link) = &mut self.link {
            (link.heard, link.received) = (now, link.received + bytes);
        }
    }

    /// It carries one more call.
    pub(super) fn enter(&mut self, wants_data: bool) {
        self.load += 1;
        self.wants_data += usize::from(wants_data);
    }

    /// It carries one less.
    pub(super) fn leave(&mut self, wants_data: bool) {
        self.load -= 1;
        self.wants_data -= usize::from(wants_data);
    }

    /// How many calls it carries.
    pub(super) fn load(&self) -> usize {
        self.load
    }

    /// Whether a reply may bring data for a caller's buffer.
    pub(super) fn expects_data(&self) -> bool {
        self.wants_data > 0
    }

    /// Whether it delivers what it is given.
    pub(super) fn delivers(&self) -> bool {
        self.live().is_some() && !self.is_suspect
    }

    /// As one of those of which one is chosen.
    pub(super) fn as_candidate(&self, is_eligible: bool) -> Candidate {
        Candidate {
            is_connected: self.live().is_some(),
            is_suspect: self.is_suspect,
            meter: self.meter,
            load: self.load,
            is_eligible,
        }
    }

    /// As it is, for a report.
    pub(super) fn sketch(&self) -> LaneSketch {
        LaneSketch {
            meter: self.meter,
            load: self.load,
            received: self.received_before + self.link.map_or(0, |link| link.received),
            connections: self.connections,
            delivers: self.delivers(),
        }
    }
}
