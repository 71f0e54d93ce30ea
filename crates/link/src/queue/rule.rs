//! What every queue can do.

use std::fmt::Debug;
use std::time::Instant;

use crate::Packet;

/// The packets that wait for a line, and the rule by which some are dropped. What is dropped is handed to `dropped`; of
/// super-packets that may be single segments.
pub trait Queue<B>: Debug + Send {
    /// A packet wants to wait.
    fn offer(&mut self, now: Instant, packet: Packet<B>, dropped: &mut dyn FnMut(Packet<B>));

    /// The line is free: who is next. Of a super-packet not more than `most` bytes, but a segment at least.
    fn take(&mut self, now: Instant, most: usize, dropped: &mut dyn FnMut(Packet<B>)) -> Option<Packet<B>>;
}
