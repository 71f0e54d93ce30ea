//! Counts for one worker, on its thread.

use std::sync::Arc;

use super::cell::Ran;
use super::desk;
use super::moment::Moment;
use super::outcome::Unheard;
use super::shard::{Doing, Shard};
use super::ticket::{Place, Ticket, Timing};
use crate::Reply;

/// Of calls that come fast one after the other, one in so many has the time of its quick calls on the file system taken, and stands
/// for all: reading the clock twice is a fiftieth of a GETATTR.
const SAMPLE: u32 = 32;
/// The first call of a receive has it taken for itself if none had for so many nanoseconds: with so much between, the two readings are
/// nothing, and a server with little to do is exact.
const APART: u64 = 100_000;

/// The one who changes a worker's counters. It cannot be cloned, and changing takes it whole: no counter has two writers.
pub struct Clerk {
    shard: Arc<Shard>,
    /// Thrown for each call that is not the first in a while: calls come in turns of some length, and counting to a fixed
    /// number may always meet the same place in them.
    dice: u32,
    /// When the last call came that was the first in a while.
    last: Moment,
}

impl Clerk {
    /// For these counters.
    pub(super) fn new(shard: Arc<Shard>) -> Self {
        Self { shard, dice: 0, last: Moment::at(0) }
    }

    /// The worker runs on this thread from now on.
    pub fn sit_down(&mut self) {
        desk::seat(Some(&self.shard));
    }

    /// It does not any more.
    pub fn stand_up(&mut self) {
        desk::seat(None);
    }

    /// The worker waits for sockets.
    pub fn wait(&mut self) {
        self.shard.set(Doing::Waits);
    }

    /// The worker has something to do.
    pub fn run(&mut self) {
        self.shard.set(Doing::Runs);
    }

    /// A call starts.
    #[inline]
    pub fn start(&mut self, timing: &Timing) {
        if timing.is_first && timing.arrived.since(self.last) >= APART {
            self.last = timing.arrived;
            return desk::clear(1);
        }
        desk::clear(self.weight_of_next());
    }

    /// One in [`SAMPLE`], by the linear congruential generator of Numerical Recipes, whose high bits are good.
    #[inline]
    fn weight_of_next(&mut self) -> u32 {
        self.dice = self.dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if self.dice < u32::MAX / SAMPLE { SAMPLE } else { 0 }
    }

    /// A call ended. Its reply gets a ticket to show when it has gone.
    #[inline]
    pub fn end(&mut self, procedure: u16, timing: &Timing, reply: Option<&mut Reply>) {
        let (export, storage) = desk::read();
        self.shard.leave();
        let sent = reply.as_ref().map_or(0, |reply| reply.message_length());
        let outcome = reply.as_ref().map(|reply| reply.outcome());
        let ran = Ran { outcome, received: timing.received as u64, sent: sent as u64, storage };
        let place = Place { export, procedure };
        self.shard.cell(place).ran(&ran);
        if let Some(reply) = reply {
            reply.set_ticket(Ticket { place, arrived: timing.arrived });
        }
    }

    /// The export of the call that ended last.
    pub fn last_export(&self) -> u16 {
        desk::read().0
    }

    /// What the watch sees of it.
    pub fn shard(&self) -> Arc<Shard> {
        Arc::clone(&self.shard)
    }

    /// A range of a file is sent for a call: it waits for storage as the call did.
    pub fn start_moving(&mut self, ticket: &Ticket) {
        self.shard.enter(ticket.place.export);
    }

    /// That is over.
    pub fn end_moving(&mut self) {
        self.shard.leave();
    }

    /// A message came to no procedure.
    pub fn unheard(&mut self, unheard: Unheard) {
        self.shard.unheard(unheard).add(1);
    }

    /// So many replies with this ticket were handed to the socket: calls that came together leave together, for the most part.
    pub fn handed(&mut self, ticket: &Ticket, count: u64, now: Moment) {
        self.shard.cell(ticket.place).handed(now.since(ticket.arrived), count);
    }

    /// A reply's data went from its file to the socket.
    pub fn moved(&mut self, ticket: &Ticket, nanoseconds: u64) {
        self.shard.cell(ticket.place).moved(nanoseconds);
    }
}
