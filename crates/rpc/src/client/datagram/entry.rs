//! One call, from the moment it is started until it is answered or given back.

use std::time::Instant;

use super::rate::SentAt;
use super::window::Amount;
use crate::client::{Class, ReplaySafety};

/// A call to be made.
#[derive(Debug, Clone)]
pub struct NewCall<C> {
    /// Matches its reply; not in use by another call.
    pub xid: u32,
    /// What kind of call it is.
    pub class: Class,
    /// Whether it may run twice.
    pub replay: ReplaySafety,
    /// Length of the call in bytes.
    pub sends: usize,
    /// The most bytes that its reply may have.
    pub receives: usize,
    /// Bytes of data asked for or sent, if it is a READ or WRITE that can be made smaller.
    pub transfer: Option<usize>,
    /// When it is given back unanswered; `None`: never.
    pub expires: Option<Instant>,
    /// Whatever the caller keeps for it: the message, and who waits.
    pub call: C,
}

/// Where a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Never sent.
    Waiting,
    /// Sent, and counted against the window.
    InFlight,
    /// Timed out, or long overdue: to be sent again.
    Lost,
}

/// A call and what happened to it.
#[derive(Debug)]
pub(super) struct Entry<C> {
    pub(super) new: NewCall<C>,
    pub(super) state: State,
    /// How often it was sent.
    pub(super) sends: u32,
    pub(super) first: Instant,
    pub(super) last: SentAt,
    /// What was on the way then, with it: how long its answer takes shows whether that is too much.
    pub(super) flight: Amount,
    /// The number of its last sending: later ones have higher numbers.
    pub(super) order: u64,
    /// When it is sent again.
    pub(super) deadline: Instant,
    pub(super) timed_out: Option<Instant>,
    /// Others sent later were answered before it timed out.
    pub(super) lost_alone: bool,
}

impl<C> Entry<C> {
    pub(super) fn new(new: NewCall<C>, now: Instant) -> Self {
        let last = SentAt { at: now, delivered: 0 };
        Self {
            new,
            state: State::Waiting,
            sends: 0,
            first: now,
            last,
            flight: Amount::default(),
            order: 0,
            deadline: now,
            timed_out: None,
            lost_alone: false,
        }
    }

    /// Bytes that count against the window: the call's, and the most that its reply may have.
    pub(super) fn charge(&self) -> usize {
        self.new.sends + self.new.receives
    }

    /// When something must be done about it.
    pub(super) fn alarm(&self) -> Option<Instant> {
        let deadline = (self.state == State::InFlight).then_some(self.deadline);
        deadline.into_iter().chain(self.new.expires).min()
    }
}
