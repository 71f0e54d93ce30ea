//! The slot for CREATE_SESSION: one call at a time, and the last reply (RFC 8881 18.36.4, phase 2).

use std::sync::Arc;

use crate::error::StateError;

/// The last CREATE_SESSION of a client and its reply.
#[derive(Debug, Default)]
pub struct CreationSlot {
    sequence: u32,
    reply: Reply,
}

#[derive(Debug, Default)]
enum Reply {
    /// There was no call yet.
    #[default]
    Never,
    /// The server has not yet said what it answered.
    Pending,
    Success(Arc<[u8]>),
    Refusal(StateError),
}

/// What the slot says to a sequence number.
#[derive(Debug)]
pub enum CreationAnswer {
    /// The next call.
    New,
    /// A retry, and this was the reply.
    Replay(Arc<[u8]>),
}

impl CreationSlot {
    /// What to do with a call of this number. Moves nothing.
    ///
    /// # Errors
    ///
    /// The refusal that was the reply before; [`StateError::Delay`] if there is no reply yet,
    /// [`StateError::SequenceMisordered`] if it is neither the last nor the next.
    pub fn look(&self, sequence: u32) -> Result<CreationAnswer, StateError> {
        if sequence == self.next() {
            return Ok(CreationAnswer::New);
        }
        match &self.reply {
            Reply::Never => Err(StateError::SequenceMisordered),
            _ if sequence != self.sequence => Err(StateError::SequenceMisordered),
            Reply::Pending => Err(StateError::Delay),
            Reply::Success(reply) => Ok(CreationAnswer::Replay(reply.clone())),
            Reply::Refusal(error) => Err(error.clone()),
        }
    }

    /// The next call was run: with a session, whose reply is still to be made, or refused.
    pub fn advance(&mut self, refusal: Option<StateError>) {
        self.sequence = self.next();
        self.reply = refusal.map_or(Reply::Pending, Reply::Refusal);
    }

    /// The call of this number is to run again, if it is the last and has no reply yet. Whether it is.
    pub fn undo(&mut self, sequence: u32) -> bool {
        let is_it = sequence == self.sequence && matches!(self.reply, Reply::Pending);
        if is_it {
            *self = Self { sequence: sequence.wrapping_sub(1), reply: Reply::Never };
        }
        is_it
    }

    /// Keeps the reply to the call of this number.
    pub fn remember(&mut self, sequence: u32, reply: &[u8]) {
        if sequence == self.sequence && !matches!(self.reply, Reply::Never) {
            self.reply = Reply::Success(reply.into());
        }
    }

    /// The number of the next call.
    pub fn next(&self) -> u32 {
        self.sequence.wrapping_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_is_one_and_a_retry_has_the_same_reply() {
        let mut slot = CreationSlot::default();
        assert_eq!(slot.look(0).err(), Some(StateError::SequenceMisordered));
        assert_eq!(slot.look(2).err(), Some(StateError::SequenceMisordered));
        assert!(matches!(slot.look(1), Ok(CreationAnswer::New)));
        slot.advance(None);
        assert_eq!(slot.look(1).err(), Some(StateError::Delay));
        slot.remember(2, b"other");
        slot.remember(1, b"reply");
        assert!(matches!(slot.look(1), Ok(CreationAnswer::Replay(reply)) if *reply == *b"reply"));
        slot.advance(Some(StateError::NoSpace));
        assert_eq!(slot.look(2).err(), Some(StateError::NoSpace));
        assert_eq!(slot.look(1).err(), Some(StateError::SequenceMisordered));
    }
    #[test]
    fn a_call_that_is_undone_runs_again() {
        let mut slot = CreationSlot::default();
        for sequence in 1..3 {
            slot.advance(None);
            assert!(!slot.undo(sequence + 1), "another number");
            assert_eq!(slot.look(sequence).err(), Some(StateError::Delay));
            assert!(slot.undo(sequence));
            assert!(matches!(slot.look(sequence), Ok(CreationAnswer::New)));
            slot.advance(None);
            slot.remember(sequence, b"reply");
            assert!(!slot.undo(sequence), "it was answered");
        }
    }
}
