//! The slots of a session: which are in use, and the number of the next call of each (RFC 8881 2.10.6.1).

use std::time::Duration;

use howdah_rpc::client::envelope::{AfterCall, CallEnd, CallSends, CallTicket};
use howdah_wire::nfs4::Status;

use crate::outcome::{SequenceOutcome, SequenceWord};

/// The most slots that are used, whatever the server offers.
pub const SLOTS_MAX: u32 = 1024;
/// A call that the server runs already is sent again after this time, then after twice as long each time,
const AGAIN_FIRST: Duration = Duration::from_millis(100);
/// up to this.
const AGAIN_LONGEST: Duration = Duration::from_secs(5);

/// What is wrong with a session, or with one slot of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SlotTrouble {
    /// The server does not know the session any more: `BADSESSION` or `DEADSESSION`.
    Gone,
    /// The connection of a call is not one of the session: `CONN_NOT_BOUND_TO_SESSION`.
    NotBound,
    /// A slot has another number at the server: `SEQ_MISORDERED`. It is not used any more.
    Misordered,
    /// The server does not take a slot that it offered, or the highest that is in use: `BADSLOT`, `BAD_HIGH_SLOT`.
    BadSlot,
    /// A reply is not one to its call. The slot is not used any more.
    Foreign,
    /// There is no reply to a call that may have run. The slot is not used any more.
    Lost,
}

/// One slot.
#[derive(Debug, Clone, Copy)]
struct Slot {
    /// The number of its next call.
    next: u32,
    /// How often the server ran its call already.
    delays: u32,
    /// Its number at the server is in doubt.
    is_spoilt: bool,
    /// The server did not take it for a while. Some servers keep its number then, and others begin from 1.
    was_retired: bool,
    /// Its call is one for the upkeep of the session.
    is_for_upkeep: bool,
}

/// A slot that was never used.
const NEW: Slot = Slot { next: 1, delays: 0, is_spoilt: false, was_retired: false, is_for_upkeep: false };

/// The slots of one session. One that holds a call is in use until the server has answered, and one that is not used any more stays in
/// use.
#[derive(Debug)]
pub struct SlotTable {
    session: [u8; 16],
    slots: Vec<Slot>,
    /// A bit for each slot: it is in use.
    used: Vec<u64>,
    /// How many slots the server takes, and how many it wants to be used.
    taken: u32,
    wanted: u32,
    /// When the call was sent with whose answer the server said so.
    said: Duration,
    /// Slots that are not used any more.
    spoilt: u32,
}

impl SlotTable {
    /// Of a new session with so many slots.
    pub fn new(session: [u8; 16], granted: u32) -> Self {
        let count = granted.clamp(1, SLOTS_MAX);
        let (slots, used) = Default::default();
        Self { session, slots, used, taken: count, wanted: count, said: Duration::ZERO, spoilt: 0 }
    }

    /// The session.
    pub fn session(&self) -> [u8; 16] {
        self.session
    }

    /// How many slots may be used now.
    pub fn usable(&self) -> u32 {
        self.taken.min(self.wanted)
    }

    /// How many slots are not used any more, since their number at the server is not known.
    pub fn spoilt(&self) -> u32 {
        self.spoilt
    }

    /// Whether no slot that may be used will ever be free.
    pub fn is_useless(&self) -> bool {
        let usable = self.usable();
        self.spoilt >= usable && self.slots[..usable as usize].iter().all(|slot| slot.is_spoilt)
    }

    /// Whether no call is under way.
    pub fn is_idle(&self) -> bool {
        let used: u32 = self.used.iter().map(|word| word.count_ones()).sum();
        used == self.spoilt
    }

    /// The lowest slot that is free and may be used.
    pub fn free(&self) -> Option<u32> {
        let full = self.used.iter().take_while(|word| **word == u64::MAX).count();
        let free = full as u32 * 64 + self.used.get(full).map_or(0, |word| word.trailing_ones());
        (free < self.usable()).then_some(free)
    }

    /// Takes the lowest free slot, for a call of the session's own upkeep or for another. There must be one.
    pub fn take(&mut self, is_for_upkeep: bool) -> CallTicket {
        let slot = self.free().expect("a slot is free");
        let (place, word) = (slot as usize, slot as usize / 64);
        if place >= self.slots.len() {
            self.slots.resize(place + 1, NEW);
            self.used.resize(word + 1, 0);
        }
        self.used[word] |= 1 << (slot % 64);
        self.slots[place].is_for_upkeep = is_for_upkeep;
        let highest_slot = self.highest_used().unwrap_or(slot);
        CallTicket { session: self.session, slot, number: self.slots[place].next, highest_slot }
    }

    /// A call ended. Says what becomes of it, and what the server said.
    pub fn release(&mut self, ticket: &CallTicket, end: CallEnd<'_>, sends: CallSends) -> Released {
        let mut released = Released { release: AfterCall::Over, word: None, trouble: None };
        if ticket.session != self.session {
            if matches!(end, CallEnd::Ran(results) if is_delayed(results, ticket)) {
                released.release = AfterCall::SendAgain(AGAIN_LONGEST);
            }
            return released;
        }
        let outcome = match end {
            CallEnd::Ran(results) => SequenceOutcome::parse(results, ticket),
            CallEnd::NotRun => {
                released.trouble = self.on_not_run(ticket, sends);
                return released;
            }
            CallEnd::Unknown => {
                released.trouble = Some(SlotTrouble::Lost);
                self.spoil(ticket);
                return released;
            }
        };
        match outcome {
            SequenceOutcome::Went(word) => {
                self.on_word(word, sends.last);
                released.word = Some(word);
                self.put_back(ticket, 1);
            }
            SequenceOutcome::Refused(Status::RETRY_UNCACHED_REP | Status::SEQ_FALSE_RETRY) => {
                self.put_back(ticket, 1);
            }
            SequenceOutcome::Refused(Status::DELAY) => {
                released.release = AfterCall::SendAgain(self.delay(ticket));
            }
            SequenceOutcome::Refused(Status::CONN_NOT_BOUND_TO_SESSION) => {
                released.trouble = Some(SlotTrouble::NotBound);
                if self.slots[ticket.slot as usize].is_for_upkeep {
                    // Connections are not bound before it is over.
                    self.on_not_run(ticket, sends);
                } else {
                    // It may have run by way of another connection: only the same number shows it.
                    released.release = AfterCall::SendAgain(self.delay(ticket));
                }
            }
            SequenceOutcome::Refused(status) => {
                released.trouble = self.on_refusal(ticket, status, sends);
            }
            // The server failed at an operation, and leaves out the results of those before: SEQUENCE is one of them.
            SequenceOutcome::NotReached(Status::SERVERFAULT) => self.put_back(ticket, 1),
            SequenceOutcome::NotReached(_) => released.trouble = self.on_not_run(ticket, sends),
            SequenceOutcome::Foreign => {
                released.trouble = Some(SlotTrouble::Foreign);
                self.spoil(ticket);
            }
        }
        released
    }

    /// The server wants so many slots to be used at most: CB_RECALL_SLOT (RFC 8881 20.8).
    pub fn on_recall(&mut self, target_highest: u32) {
        self.wanted = target_highest.saturating_add(1).min(SLOTS_MAX);
    }

    fn on_refusal(&mut self, ticket: &CallTicket, status: Status, sends: CallSends) -> Option<SlotTrouble> {
        match status {
            Status::BADSESSION | Status::DEADSESSION => {
                self.put_back(ticket, 0);
                Some(SlotTrouble::Gone)
            }
            Status::SEQ_MISORDERED if self.begins_anew(ticket, sends) => None,
            Status::SEQ_MISORDERED => {
                self.spoil(ticket);
                Some(SlotTrouble::Misordered)
            }
            Status::BADSLOT | Status::BAD_HIGH_SLOT => {
                if status == Status::BADSLOT {
                    self.taken = self.taken.min(ticket.slot.max(1));
                }
                self.on_not_run(ticket, sends).or(Some(SlotTrouble::BadSlot))
            }
            // What is wrong is the compound.
            _ => self.on_not_run(ticket, sends),
        }
    }

    /// Whether the server forgot the number of a slot while it did not take it: the slot begins from 1.
    fn begins_anew(&mut self, ticket: &CallTicket, sends: CallSends) -> bool {
        let is_forgotten = self.slots[ticket.slot as usize].was_retired && sends.count == 1;
        if is_forgotten {
            self.put_back(ticket, 0);
            self.slots[ticket.slot as usize] = NEW;
        }
        is_forgotten
    }

    /// The server did not run a call this time. An earlier copy may have run: then its slot is not used any more, since a server may
    /// answer the next call in it as it answered that one.
    fn on_not_run(&mut self, ticket: &CallTicket, sends: CallSends) -> Option<SlotTrouble> {
        if sends.count > 1 {
            self.spoil(ticket);
            return Some(SlotTrouble::Lost);
        }
        self.put_back(ticket, 0);
        None
    }

    /// The slot is free again, and its number that much further.
    fn put_back(&mut self, ticket: &CallTicket, step: u32) {
        let place = ticket.slot as usize;
        self.used[place / 64] &= !(1 << (ticket.slot % 64));
        let next = ticket.number.wrapping_add(step);
        let before = self.slots[place].was_retired && step == 0;
        self.slots[place] = Slot { next, was_retired: before || ticket.slot >= self.taken, ..NEW };
    }

    /// The slot is not used any more.
    fn spoil(&mut self, ticket: &CallTicket) {
        self.slots[ticket.slot as usize].is_spoilt = true;
        self.spoilt += 1;
    }

    /// The server says how many slots there are. What it said with the answer to an earlier call does not count any more.
    fn on_word(&mut self, word: SequenceWord, sent: Duration) {
        if sent < self.said {
            return;
        }
        self.said = sent;
        let count = |highest: u32| highest.saturating_add(1).min(SLOTS_MAX);
        (self.taken, self.wanted) = (count(word.highest_slot), count(word.target));
        let retired = self.slots.iter_mut().skip(self.taken as usize);
        retired.for_each(|slot| slot.was_retired = true);
    }

    fn delay(&mut self, ticket: &CallTicket) -> Duration {
        let slot = &mut self.slots[ticket.slot as usize];
        let delay = AGAIN_FIRST.saturating_mul(1 << slot.delays.min(16));
        slot.delays += 1;
        delay.min(AGAIN_LONGEST)
    }

    fn highest_used(&self) -> Option<u32> {
        let word = self.used.iter().rposition(|word| *word != 0)?;
        Some(word as u32 * 64 + self.used[word].ilog2())
    }
}

/// Whether the server still runs a call.
fn is_delayed(results: &[u8], ticket: &CallTicket) -> bool {
    SequenceOutcome::parse(results, ticket) == SequenceOutcome::Refused(Status::DELAY)
}

/// What the end of a call means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Released {
    /// What becomes of the call.
    pub release: AfterCall,
    /// What the server said of the session, if it took the call.
    pub word: Option<SequenceWord>,
    /// What is wrong.
    pub trouble: Option<SlotTrouble>,
}

#[cfg(test)]
mod tests;
