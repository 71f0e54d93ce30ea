//! What every element of a path can do.

use std::fmt::Debug;
use std::time::Instant;

use crate::{Counters, Packet};

/// One thing that happens to packets on their way.
///
/// Times never run backwards: `now` is at least what any earlier call was told.
pub trait Element<B>: Debug + Send {
    /// A packet comes in.
    fn push(&mut self, now: Instant, packet: Packet<B>);

    /// A packet that has left by `now`, and when it did; in the order in which they leave. To be asked until `None`.
    fn poll(&mut self, now: Instant) -> Option<(Instant, Packet<B>)>;

    /// When to poll next; `None`: not before something is pushed.
    fn next_event(&self) -> Option<Instant>;

    /// What it did so far.
    fn counters(&self) -> Counters;

    /// What it is called in reports.
    fn name(&self) -> &'static str;
}
