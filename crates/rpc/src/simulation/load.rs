//! What drives a simulation.

use std::time::Duration;

use crate::client::datagram::{NewCall, Returned};

/// Makes calls, and hears what became of them. Times are since the beginning.
pub trait Load {
    /// Makes calls, if it wants to. A call's own value is the number of bytes of its reply.
    fn start(&mut self, now: Duration, transfer: usize, calls: &mut Vec<NewCall<usize>>);
    /// A call was answered.
    fn answered(&mut self, now: Duration, xid: u32);
    /// A call was sent, for the so-many-th time.
    fn sent(&mut self, _now: Duration, _xid: u32, _sends: u32) {}
    /// A call was given back.
    fn returned(&mut self, xid: u32, why: Returned);
    /// When it wants to make calls though nothing happened.
    fn next_event(&self) -> Option<Duration> {
        None
    }
    /// Has it all that it wanted?
    fn is_done(&self) -> bool;
}
