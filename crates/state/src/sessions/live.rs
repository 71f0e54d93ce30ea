//! A session, as threads that answer its calls have it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use super::budget::ReplyBudget;
use super::{ClientShared, SequenceRequest, SessionSlots, SlotAnswer};
use crate::error::StateError;
use crate::ids::{ClientId, SessionId};
use crate::memory;

/// A session (RFC 8881 2.10). Threads may keep it; after its end it answers BADSESSION.
#[derive(Debug)]
pub struct LiveSession<S> {
    id: SessionId,
    client: ClientId,
    shared: Arc<ClientShared>,
    slots: SessionSlots,
    budget: Arc<ReplyBudget>,
    has_ended: AtomicBool,
    /// Bytes that its client holds for it.
    held: AtomicUsize,
    data: S,
}

impl<S> LiveSession<S> {
    pub(crate) fn new(
        (id, client): (SessionId, ClientId),
        shared: Arc<ClientShared>,
        slots: u32,
        budget: Arc<ReplyBudget>,
        data: S,
    ) -> Self {
        let slots = SessionSlots::new(slots);
        let base = memory::SESSION + slots.base_bytes();
        shared.hold(base);
        let (has_ended, held) = (AtomicBool::new(false), AtomicUsize::new(base));
        Self { id, client, shared, slots, budget, has_ended, held, data }
    }

    /// Takes a slot and renews the lease; neither moves on an error.
    pub(super) fn begin(&self, now: Duration, request: SequenceRequest) -> Result<SlotAnswer, StateError> {
        if self.has_ended() {
            return Err(StateError::BadSession);
        }
        let mut slot = self.slots.lock(request.slot, |bytes| self.hold(bytes))?;
        if request.highest_slot < request.slot {
            return Err(StateError::BadHighSlot);
        }
        let kept = slot.kept();
        let answer = slot.begin(request.sequence, request.digest)?;
        drop(slot);
        if answer == SlotAnswer::New {
            self.give_back(kept);
        }
        self.shared.renew(now);
        self.slots.acknowledge(request.highest_slot);
        Ok(answer)
    }

    /// The session's name.
    pub fn id(&self) -> SessionId {
        self.id
    }

    /// The client's id.
    pub fn client(&self) -> ClientId {
        self.client
    }

    /// What the server keeps with it.
    pub fn data(&self) -> &S {
        &self.data
    }

    /// Its slots.
    pub fn slots(&self) -> &SessionSlots {
        &self.slots
    }

    /// Whether it was destroyed, or its client ended.
    pub fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }

    /// `SEQ4_STATUS_*` bits of the client, to be asked for with every answer (RFC 8881 18.46.3). Only those that
    /// [`Self::change_flags`] set: with sessions that do not survive a restart a client learns of it by BADSESSION,
    /// and of lost state by losing its id.
    pub fn flags(&self) -> u32 {
        self.shared.flags()
    }

    /// Sets and clears `SEQ4_STATUS_*` bits for all sessions of the client, such as CB_PATH_DOWN.
    pub fn change_flags(&self, set: u32, clear: u32) {
        self.shared.change_flags(set, clear);
    }

    pub(crate) fn end(&self) {
        self.has_ended.store(true, Ordering::Release);
    }

    pub(super) fn finish(&self, slot: u32, reply: Option<&[u8]>) {
        let reply = reply.filter(|reply| self.keep(reply.len()));
        self.slots.at(slot as usize).finish(reply.map(Arc::from));
    }

    /// Takes so many bytes for a reply, if the client may have them and they are there.
    fn keep(&self, bytes: usize) -> bool {
        if !self.shared.keep(bytes, self.budget.of_one_client()) {
            return false;
        }
        let fits = self.budget.take(bytes);
        if !fits {
            self.shared.forget(bytes);
        }
        fits
    }

    /// Whether its client may hold so many bytes more, which it then does.
    fn hold(&self, bytes: usize) -> bool {
        let may = self.shared.may_grow();
        if may {
            self.shared.hold(bytes);
            self.held.fetch_add(bytes, Ordering::Relaxed);
        }
        may
    }

    fn give_back(&self, bytes: usize) {
        self.budget.give_back(bytes);
        self.shared.forget(bytes);
    }
}

impl<S> Drop for LiveSession<S> {
    fn drop(&mut self) {
        self.give_back(self.slots.kept());
        self.shared.release(self.held.load(Ordering::Relaxed));
    }
}
