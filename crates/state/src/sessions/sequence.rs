//! SEQUENCE: a slot is taken, and given up in any case.

use std::sync::Arc;
use std::time::Duration;

use super::{LiveSession, SequenceRequest, SlotAnswer};
use crate::error::StateError;

/// What SEQUENCE found.
#[derive(Debug)]
pub enum SequenceAnswer<S> {
    /// A new call. The guard ends it; dropped, the slot is free again and the reply not kept.
    New(SlotGuard<S>),
    /// A retry, and this was the reply.
    Replay(Arc<[u8]>),
    /// A retry of a call whose reply was not kept: `NFS4ERR_RETRY_UNCACHED_REP` as the second result.
    Uncached,
}

impl<S> LiveSession<S> {
    /// SEQUENCE (RFC 8881 18.46): takes a slot and renews the client's lease. Everything else that can make SEQUENCE fail is to be
    /// checked before, since a slot that was taken has moved.
    ///
    /// # Errors
    ///
    /// Neither slot nor lease moves: [`StateError::BadSession`], [`StateError::BadSlot`], [`StateError::BadHighSlot`], and those of
    /// [`SessionSlot::begin`](crate::SessionSlot::begin).
    pub fn sequence(
        self: &Arc<Self>,
        now: Duration,
        request: SequenceRequest,
    ) -> Result<SequenceAnswer<S>, StateError> {
        Ok(match self.begin(now, request)? {
            SlotAnswer::New => SequenceAnswer::New(SlotGuard::new(self.clone(), request.slot)),
            SlotAnswer::Replay(reply) => SequenceAnswer::Replay(reply),
            SlotAnswer::Uncached => SequenceAnswer::Uncached,
        })
    }
}

/// A slot that runs a call. Dropped without [`Self::finish`], by a panic or on an early return, it is free again and a retry
/// is answered "not kept": a slot never stays taken.
#[derive(Debug)]
pub struct SlotGuard<S> {
    session: Arc<LiveSession<S>>,
    slot: u32,
    is_finished: bool,
}

impl<S> SlotGuard<S> {
    fn new(session: Arc<LiveSession<S>>, slot: u32) -> Self {
        Self { session, slot, is_finished: false }
    }

    /// The call was answered with this, the encoded results behind SEQUENCE's; `None` if it is not to be kept.
    pub fn finish(mut self, reply: Option<&[u8]>) {
        self.is_finished = true;
        self.session.finish(self.slot, reply);
    }

    /// Its session.
    pub fn session(&self) -> &Arc<LiveSession<S>> {
        &self.session
    }

    /// Its slot's number.
    pub fn slot(&self) -> u32 {
        self.slot
    }
}

impl<S> Drop for SlotGuard<S> {
    fn drop(&mut self) {
        if !self.is_finished {
            self.session.finish(self.slot, None);
        }
    }
}
