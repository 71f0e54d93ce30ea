//! A pair in the hands of its worker: both directions, and what is waited for.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use howdah_net::{Interest, Poller, Ready, RelayEnd, Token};

use crate::flow::{Carriage, Flow, Waits};
use crate::pair::{RelayedPair, Way};
use crate::tools::Tools;

/// One of the two connections of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelaySide {
    /// To the client.
    Near,
    /// To the server.
    Far,
}

/// The pair, and how far it is.
pub struct Driven {
    pub pair: Arc<RelayedPair>,
    out: Direction,
    back: Direction,
    /// What is waited for on the near connection, and on the far one.
    armed: [Interest; 2],
    /// Nothing was waited for, and the poller reported an event all the same: both peers have ended that connection in order.
    /// It would report that for ever.
    is_over: [bool; 2],
}

struct Direction {
    flow: Flow,
    /// What stopped it last.
    waits: Waits,
    held_up_since: Option<Instant>,
}

/// What becomes of a pair.
#[derive(Debug)]
pub enum DriveOutcome {
    /// It goes on.
    GoesOn,
    /// Both sides have ended in order.
    Ended,
    /// One side is over: the other has to be.
    Broken(io::Error),
}

impl Driven {
    /// A new pair, of which nothing was moved yet; both connections are added to the poller.
    ///
    /// # Errors
    /// The kernel has no memory to wait for them.
    pub fn begin(pair: Arc<RelayedPair>, poller: &Poller) -> io::Result<Self> {
        poller.add(&pair.near, token(pair.number, RelaySide::Near), Interest::READABLE)?;
        poller.add(&pair.far, token(pair.number, RelaySide::Far), Interest::READABLE)?;
        let out = Direction::new(Flow::between(&pair.near, &pair.far));
        let back = Direction::new(Flow::between(&pair.far, &pair.near));
        Ok(Self { pair, out, back, armed: [Interest::READABLE; 2], is_over: [false; 2] })
    }

    /// Something happened on one side: moves what can be moved, and waits for the rest.
    pub fn drive(
        &mut self,
        side: RelaySide,
        ready: &Ready,
        poller: &Poller,
        tools: &mut Tools,
    ) -> DriveOutcome {
        if self.armed[side as usize] == Interest::NONE {
            return self.on_end(side);
        }
        if let Err(error) = self.pump(side, ready, tools) {
            return DriveOutcome::Broken(error);
        }
        let (out, back) = (self.out.waits, self.back.waits);
        if (out, back) == (Waits::Over, Waits::Over) {
            return DriveOutcome::Ended;
        }
        let wanted = [interest(out, back), interest(back, out)];
        self.arm(side, wanted, poller).map_or_else(DriveOutcome::Broken, |()| DriveOutcome::GoesOn)
    }

    /// A side from which nothing is awaited reported an event: it broke, or has ended both ways. What it sent before that is
    /// still there.
    fn on_end(&mut self, side: RelaySide) -> DriveOutcome {
        let error = match side {
            RelaySide::Near => self.pair.near.take_error(),
            RelaySide::Far => self.pair.far.take_error(),
        };
        self.is_over[side as usize] = true;
        error.map_or(DriveOutcome::GoesOn, DriveOutcome::Broken)
    }

    /// The direction that begins at a side is moved where that can be read, the one that ends there where it takes something.
    fn pump(&mut self, side: RelaySide, ready: &Ready, tools: &mut Tools) -> io::Result<()> {
        let (near, far): (&dyn RelayEnd, &dyn RelayEnd) = (&self.pair.near, &self.pair.far);
        let (begins, ends) = (ready.readable, ready.writable);
        let (out, back) = if side == RelaySide::Near { (begins, ends) } else { (ends, begins) };
        if out {
            self.out.pump((near, far), &self.pair.out, tools)?;
        }
        if back {
            self.back.pump((far, near), &self.pair.back, tools)?;
        }
        Ok(())
    }

    /// Waits for these. The side that just had an event has to be armed in any case, the other one if it is another thing.
    fn arm(&mut self, this_side: RelaySide, wanted: [Interest; 2], poller: &Poller) -> io::Result<()> {
        let before = std::mem::replace(&mut self.armed, wanted);
        let is_over = self.is_over;
        let is_due = |side: RelaySide| {
            let (before, wanted) = (before[side as usize], wanted[side as usize]);
            (side == this_side || before != wanted) && !(is_over[side as usize] && wanted == Interest::NONE)
        };
        if is_due(RelaySide::Near) {
            poller.arm(&self.pair.near, token(self.pair.number, RelaySide::Near), wanted[0])?;
        }
        if is_due(RelaySide::Far) {
            poller.arm(&self.pair.far, token(self.pair.number, RelaySide::Far), wanted[1])?;
        }
        Ok(())
    }
}

impl Direction {
    fn new(flow: Flow) -> Self {
        Self { flow, waits: Waits::ForSource, held_up_since: None }
    }

    fn pump(
        &mut self,
        (source, sink): (&dyn RelayEnd, &dyn RelayEnd),
        way: &Way,
        tools: &mut Tools,
    ) -> io::Result<()> {
        let Carriage { bytes, waits } = self.flow.pump(source, sink, tools)?;
        if bytes > 0 {
            way.add(bytes);
        }
        way.note(self.flow.splices(), self.flow.is_ended());
        self.clock(waits == Waits::ForSink, way);
        self.waits = waits;
        Ok(())
    }

    fn clock(&mut self, is_held_up: bool, way: &Way) {
        if !is_held_up && self.held_up_since.is_none() {
            return;
        }
        let now = Instant::now();
        if let Some(since) = self.held_up_since.replace(now) {
            way.add_held_up(now.duration_since(since));
        }
        if !is_held_up {
            self.held_up_since = None;
        }
    }
}

/// What to wait for on a connection that is the source of one direction and the sink of the other. A turn that is over ends at once:
/// a sink that is not full is ready.
fn interest(as_source: Waits, as_sink: Waits) -> Interest {
    Interest {
        readable: as_source == Waits::ForSource,
        writable: matches!(as_sink, Waits::ForSink | Waits::ForItsTurn),
    }
}

/// The name of one side of a pair.
pub fn token(number: u64, side: RelaySide) -> Token {
    Token(number * 2 + side as u64)
}

/// Which side of which pair that is.
pub fn of_token(token: Token) -> (u64, RelaySide) {
    (token.0 / 2, if token.0.is_multiple_of(2) { RelaySide::Near } else { RelaySide::Far })
}
