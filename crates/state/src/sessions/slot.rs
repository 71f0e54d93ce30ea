//! One slot: exactly once for one call at a time (RFC 8881 2.10.6.1).

use std::sync::Arc;

use crate::error::StateError;

/// A slot of a session: the last sequence number, and the reply to it. Four states: never used, running, answered with a reply kept,
/// answered without.
#[derive(Debug, Default)]
pub struct SessionSlot {
    sequence: u32,
    digest: u64,
    is_running: bool,
    was_used: bool,
    reply: Option<Arc<[u8]>>,
}

/// Arguments of SEQUENCE (RFC 8881 18.46.1) that decide about the slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequenceRequest {
    /// `sa_sequenceid`.
    pub sequence: u32,
    /// `sa_slotid`.
    pub slot: u32,
    /// `sa_highest_slotid`.
    pub highest_slot: u32,
    /// Distinguishes requests: of the bytes behind SEQUENCE, or a part of them.
    pub digest: u64,
}

/// What a slot says to a sequence number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SlotAnswer {
    /// A new call: the slot runs until it is finished.
    New,
    /// A retry, and this was the reply.
    Replay(Arc<[u8]>),
    /// A retry of a call whose reply was not kept (`NFS4ERR_RETRY_UNCACHED_REP`).
    Uncached,
}

impl SessionSlot {
    /// Takes a call with this sequence number. `digest` distinguishes requests: of the bytes behind SEQUENCE, or a part of
    /// them.
    ///
    /// # Errors
    ///
    /// The slot stays as it is: [`StateError::SequenceMisordered`] if the number is neither the last nor the next,
    /// [`StateError::SequenceFalseRetry`] if it is the last with another digest, [`StateError::Delay`] if that call still runs.
    pub fn begin(&mut self, sequence: u32, digest: u64) -> Result<SlotAnswer, StateError> {
        if sequence == self.sequence && self.was_used {
            return self.retry(digest);
        }
        if sequence != self.sequence.wrapping_add(1) || self.is_running {
            return Err(StateError::SequenceMisordered);
        }
        *self = Self { sequence, digest, is_running: true, was_used: true, reply: None };
        Ok(SlotAnswer::New)
    }

    fn retry(&self, digest: u64) -> Result<SlotAnswer, StateError> {
        match &self.reply {
            _ if digest != self.digest => Err(StateError::SequenceFalseRetry),
            _ if self.is_running => Err(StateError::Delay),
            Some(reply) => Ok(SlotAnswer::Replay(reply.clone())),
            None => Ok(SlotAnswer::Uncached),
        }
    }

    /// The call was answered; its reply is kept, or not.
    pub fn finish(&mut self, reply: Option<Arc<[u8]>>) {
        self.is_running = false;
        self.reply = reply;
    }

    /// The reply that is kept.
    pub fn kept(&self) -> usize {
        self.reply.as_ref().map_or(0, |reply| reply.len())
    }

    /// Whether a call runs.
    pub fn is_running(&self) -> bool {
        self.is_running
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_each_other_and_nothing_moves_on_an_error() {
        let mut slot = SessionSlot::default();
        for wrong in [0, 2, u32::MAX] {
            assert_eq!(slot.begin(wrong, 7), Err(StateError::SequenceMisordered));
        }
        assert_eq!(slot.begin(1, 7), Ok(SlotAnswer::New));
        assert_eq!(slot.begin(1, 7), Err(StateError::Delay), "it runs");
        assert_eq!(slot.begin(2, 7), Err(StateError::SequenceMisordered), "it runs");
        slot.finish(Some([1, 2].into()));
        assert_eq!(slot.begin(1, 7), Ok(SlotAnswer::Replay([1, 2].into())));
        assert_eq!(slot.begin(1, 8), Err(StateError::SequenceFalseRetry));
        assert_eq!(slot.begin(3, 7), Err(StateError::SequenceMisordered));
        assert_eq!(slot.begin(2, 9), Ok(SlotAnswer::New));
        slot.finish(None);
        assert_eq!(slot.begin(2, 9), Ok(SlotAnswer::Uncached));
    }

    #[test]
    fn numbers_wrap() {
        let mut slot = SessionSlot { sequence: u32::MAX, was_used: true, ..SessionSlot::default() };
        assert_eq!(slot.begin(0, 1), Ok(SlotAnswer::New));
        slot.finish(None);
        assert_eq!(slot.begin(0, 1), Ok(SlotAnswer::Uncached));
        assert_eq!(slot.begin(1, 1), Ok(SlotAnswer::New));
    }
}
