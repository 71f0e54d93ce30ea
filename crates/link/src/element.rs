//! What every element of a path can do.

use std::fmt::Debug;
use std::time::Instant;

use crate::{Counters, Packet, Tally};

/// One thing that happens to packets on their way.
///
/// Times never run backwards: `now` is at least what any earlier call got.
pub trait Element<B>: Debug + Send {
    /// A packet comes in.
    fn push(&mut self, now: Instant, packet: Packet<B>);

    /// A packet that has left by `now`, and when it did; in the order in which they leave. To be asked until `None`.
    fn poll(&mut self, now: Instant) -> Option<(Instant, Packet<B>)>;

    /// When to poll next: before that nothing leaves. `None`: not before something is pushed.
    fn next_event(&self) -> Option<Instant>;

    /// What it did so far.
    fn counters(&self) -> Counters;

    /// What it is called in reports.
    fn name(&self) -> &'static str;

    /// What is in it now: what waits and is being sent at a line, what is on its way in a delay.
    fn queued(&self) -> Tally {
        self.counters().held()
    }

    /// A packet (already counted as dropped) whose sender is to get a report that it was too large. To be asked until `None`; a
    /// caller that never asks makes it a black hole.
    fn refused(&mut self) -> Option<Refused<B>> {
        None
    }
}

/// A packet that was too large.
#[derive(Debug)]
pub struct Refused<B> {
    /// How large it may be: bytes, IP header included.
    pub mtu: usize,
    /// The packet.
    pub packet: Packet<B>,
}
