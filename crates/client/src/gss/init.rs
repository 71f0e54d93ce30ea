//! The call that makes a context: its verifier is checked later, once there is a key.

use std::ops::Range;

use parking_lot::Mutex;

use crate::channel::{CallProtection, CoveredReply, ResultsCover, Unprotected};

/// Keeps the verifier of the reply.
#[derive(Debug, Default)]
pub(super) struct InitialCall {
    mic: Mutex<Vec<u8>>,
}

impl InitialCall {
    /// The token of the reply's verifier.
    pub(super) fn take_mic(&self) -> Vec<u8> {
        std::mem::take(&mut self.mic.lock())
    }
}

impl CallProtection for InitialCall {
    fn protect(&self, call: &Unprotected<'_>, before: &mut Vec<u8>, after: &mut Vec<u8>) {
        before.extend_from_slice(call.header);
        before.extend_from_slice(call.arguments);
        after.extend_from_slice(call.tail);
    }

    fn cover(&self) -> ResultsCover {
        ResultsCover::Header
    }

    fn open(&self, reply: CoveredReply<'_>) -> Option<Range<usize>> {
        *self.mic.lock() = reply.mic.to_vec();
        Some(0..0)
    }
}
