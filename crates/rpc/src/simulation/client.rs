//! What a simulation asks of a client: the state machine of today is one, others may be compared with it.

use std::time::Instant;

use crate::client::datagram::{NewCall, Output, Peer, ReceivedReply, Returned};

/// A call: its xid, and the bytes of its reply.
pub type Call = (u32, usize);

/// What a client does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Sends a call.
    Send {
        /// Which.
        xid: u32,
        /// For the so-many-th time.
        sends: u32,
        /// Bytes of its reply.
        reply: usize,
    },
    /// Gives a call back.
    Returned {
        /// Which.
        xid: u32,
        /// Why.
        why: Returned,
    },
    /// Wants a NULL to be called.
    Probe,
}

/// Calls to one server, and the rules by which they are sent, and sent again.
pub trait Client {
    /// A call is made.
    fn start(&mut self, now: Instant, call: NewCall<Call>);
    /// A reply came; the call that it answers, if one was open.
    fn received(&mut self, now: Instant, xid: u32) -> Option<u32>;
    /// What to do now; to be asked until `None`.
    fn act(&mut self, now: Instant) -> Option<Action>;
    /// When to ask next, if nothing comes before.
    fn next_event(&self) -> Option<Instant>;
    /// How large transfers are now.
    fn transfer_size(&self) -> usize;
    /// Calls on their way.
    fn calls_in_flight(&self) -> usize;
}

impl Client for Peer<Call> {
    fn start(&mut self, now: Instant, call: NewCall<Call>) {
        Self::start(self, now, call);
    }

    fn received(&mut self, now: Instant, xid: u32) -> Option<u32> {
        match Self::received(self, now, xid) {
            ReceivedReply::Answer { call: (xid, _), .. } => Some(xid),
            _ => None,
        }
    }

    fn act(&mut self, now: Instant) -> Option<Action> {
        Some(match self.poll(now)? {
            Output::Send { xid, sends, call: (_, reply) } => Action::Send { xid, sends, reply: *reply },
            Output::Returned { call: (xid, _), why } => Action::Returned { xid, why },
            Output::Probe => Action::Probe,
        })
    }

    fn next_event(&self) -> Option<Instant> {
        Self::next_event(self)
    }

    fn transfer_size(&self) -> usize {
        Self::transfer_size(self)
    }

    fn calls_in_flight(&self) -> usize {
        Self::calls_in_flight(self)
    }
}
