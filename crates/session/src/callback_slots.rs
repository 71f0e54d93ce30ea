//! The slots in which a server calls its client back: which number each call must have, and the replies kept for calls that come again
//! (RFC 8881 2.10.6, 20.9).

use howdah_wire::nfs4::callback::sequence;
use howdah_wire::nfs4::{SessionId, Status};

/// What becomes of a callback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallbackAdmission {
    /// It runs, and [`CallbackSlots::on_ran`] takes its reply.
    Run,
    /// It ran before, and this was its reply.
    Repeat(Vec<u8>),
    /// It does not run.
    Refuse(Status),
}

/// A slot.
#[derive(Debug, Clone, Default)]
struct CallbackSlot {
    /// The number of the last call that ran; 0 if none did.
    number: u32,
    /// Its reply.
    reply: Vec<u8>,
}

/// The slots of one session at a time. Callbacks run one by one, each to its end.
#[derive(Debug, Default)]
pub struct CallbackSlots {
    session: Option<SessionId>,
    slots: Vec<CallbackSlot>,
    /// A session is being made, whose id the client does not know yet.
    expects_session: bool,
}

impl CallbackSlots {
    /// A session is asked for. The server may use it before its answer is read here.
    pub fn expect_session(&mut self) {
        self.expects_session = true;
    }

    /// No session was made.
    pub fn on_no_session(&mut self) {
        self.expects_session = false;
    }

    /// There is a session with so many slots for callbacks. Calls in the session before are refused from now on.
    pub fn begin(&mut self, session: SessionId, slots: u32) {
        let slots = vec![CallbackSlot::default(); slots.max(1) as usize];
        *self = Self { session: Some(session), slots, expects_session: false };
    }

    /// What becomes of a callback that begins so.
    pub fn admit(&self, call: &sequence::Arguments<'_>) -> CallbackAdmission {
        use CallbackAdmission::{Refuse, Repeat, Run};
        if self.session != Some(call.session) {
            return Refuse(if self.expects_session { Status::DELAY } else { Status::BADSESSION });
        }
        let Some(slot) = self.slots.get(call.slot as usize) else { return Refuse(Status::BADSLOT) };
        if call.highest_slot < call.slot || call.highest_slot > self.highest() {
            return Refuse(Status::BAD_HIGH_SLOT);
        }
        if call.sequence == slot.number.wrapping_add(1) {
            return Run;
        }
        match call.sequence == slot.number && !slot.reply.is_empty() {
            true => Repeat(slot.reply.clone()),
            false => Refuse(Status::SEQ_MISORDERED),
        }
    }

    /// An admitted callback ran. Its reply is kept until the next one runs in its slot.
    pub fn on_ran(&mut self, call: &sequence::Arguments<'_>, reply: &[u8]) {
        if let Some(slot) = self.slots.get_mut(call.slot as usize) {
            *slot = CallbackSlot { number: call.sequence, reply: reply.to_vec() };
        }
    }

    /// The highest slot that a server may use.
    pub fn highest(&self) -> u32 {
        (self.slots.len() as u32).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use howdah_wire::xdr::Array;

    use super::*;

    const SESSION: SessionId = SessionId([1; 16]);

    fn call(session: SessionId, slot: u32, number: u32) -> sequence::Arguments<'static> {
        let referring = Array::of(&[]);
        sequence::Arguments { session, sequence: number, slot, highest_slot: slot, keep: false, referring }
    }

    fn refused(slots: &CallbackSlots, call: &sequence::Arguments<'_>) -> Option<Status> {
        match slots.admit(call) {
            CallbackAdmission::Refuse(status) => Some(status),
            _ => None,
        }
    }

    #[test]
    fn each_call_runs_once_and_its_reply_is_given_again() {
        let mut slots = CallbackSlots::default();
        slots.begin(SESSION, 2);
        for number in 1..4 {
            assert_eq!(slots.admit(&call(SESSION, 1, number)), CallbackAdmission::Run, "{number}");
            slots.on_ran(&call(SESSION, 1, number), &[number as u8]);
            let again = slots.admit(&call(SESSION, 1, number));
            assert_eq!(again, CallbackAdmission::Repeat(vec![number as u8]));
        }
        for number in [0, 2, 5, u32::MAX] {
            assert_eq!(refused(&slots, &call(SESSION, 1, number)), Some(Status::SEQ_MISORDERED));
        }
        assert_eq!(
            slots.admit(&call(SESSION, 0, 1)),
            CallbackAdmission::Run,
            "slots have numbers of their own"
        );
        assert_eq!(refused(&slots, &call(SESSION, 0, 0)), Some(Status::SEQ_MISORDERED), "nothing ran there");
    }

    #[test]
    fn numbers_wrap_around() {
        let mut slots = CallbackSlots::default();
        slots.begin(SESSION, 1);
        slots.on_ran(&call(SESSION, 0, u32::MAX), b"last");
        assert_eq!(slots.admit(&call(SESSION, 0, 0)), CallbackAdmission::Run);
    }

    #[test]
    fn other_sessions_and_slots_are_refused() {
        let mut slots = CallbackSlots::default();
        assert_eq!(refused(&slots, &call(SESSION, 0, 1)), Some(Status::BADSESSION));
        slots.expect_session();
        assert_eq!(refused(&slots, &call(SESSION, 0, 1)), Some(Status::DELAY), "it may be the one to come");
        slots.on_no_session();
        assert_eq!(refused(&slots, &call(SESSION, 0, 1)), Some(Status::BADSESSION));
        slots.begin(SESSION, 2);
        assert_eq!(refused(&slots, &call(SessionId([2; 16]), 0, 1)), Some(Status::BADSESSION));
        assert_eq!(refused(&slots, &call(SESSION, 2, 1)), Some(Status::BADSLOT));
        let beyond = sequence::Arguments { highest_slot: 2, ..call(SESSION, 0, 1) };
        assert_eq!(refused(&slots, &beyond), Some(Status::BAD_HIGH_SLOT));
        let below = sequence::Arguments { highest_slot: 0, ..call(SESSION, 1, 1) };
        assert_eq!(refused(&slots, &below), Some(Status::BAD_HIGH_SLOT));
        slots.on_ran(&call(SESSION, 0, 1), b"done");
        slots.begin(SessionId([2; 16]), 2);
        assert_eq!(refused(&slots, &call(SESSION, 0, 2)), Some(Status::BADSESSION), "that one is over");
    }
}
