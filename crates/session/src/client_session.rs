//! A session as its channel has it.

use std::collections::VecDeque;
use std::time::Duration;

use howdah_rpc::client::envelope::{AfterCall, CallEnd, CallSession, CallTicket, TicketNeed};

use crate::slots::{SlotTable, SlotTrouble};

/// The session of a channel, or that there is none yet.
#[derive(Debug, Default)]
pub struct ClientSession {
    slots: Option<SlotTable>,
    /// Whether all calls may go out, and not only those for its upkeep.
    is_open: bool,
    troubles: VecDeque<SlotTrouble>,
    wants_owner: bool,
}

impl ClientSession {
    /// There is a session with so many slots now. Tickets of the one before do not count any more.
    pub fn begin(&mut self, session: [u8; 16], slots: u32) {
        self.slots = Some(SlotTable::new(session, slots));
        self.troubles.clear();
    }

    /// Whether all calls may go out from now on, and not only those for the upkeep of the session.
    pub fn set_open(&mut self, is_open: bool) {
        self.is_open = is_open;
    }

    /// The next thing that is wrong with the session.
    pub fn poll_trouble(&mut self) -> Option<SlotTrouble> {
        self.troubles.pop_front()
    }

    /// Its slots.
    pub fn slots(&self) -> Option<&SlotTable> {
        self.slots.as_ref()
    }
}

impl CallSession for ClientSession {
    fn has_ticket(&self, need: TicketNeed) -> bool {
        let may = self.is_open || need == TicketNeed::Upkeep;
        may && self.slots.as_ref().is_some_and(|slots| slots.free().is_some())
    }

    fn take(&mut self, _: TicketNeed, _: Duration) -> CallTicket {
        self.slots.as_mut().expect("there is a session").take()
    }

    fn release(&mut self, ticket: &CallTicket, end: CallEnd<'_>, sent: Duration, _: Duration) -> AfterCall {
        let Some(slots) = &mut self.slots else { return AfterCall::Over };
        let released = slots.release(ticket, end, sent);
        self.wants_owner |= released.trouble.is_some();
        self.troubles.extend(released.trouble);
        released.release
    }

    fn wants_owner(&mut self) -> bool {
        std::mem::take(&mut self.wants_owner)
    }
}
