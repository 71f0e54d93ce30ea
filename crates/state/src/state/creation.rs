//! CREATE_SESSION and DESTROY_SESSION (RFC 8881 18.36, 18.37).

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use siphasher::sip::SipHasher24;

use super::{NfsState, SessionAnswer};
use crate::clients::{ClientCaller, ClientRecord, CreationAnswer};
use crate::error::StateError;
use crate::ids::{ClientId, SessionId};
use crate::memory;
use crate::sessions::LiveSession;

impl<K: Clone + Eq + Hash, S> NfsState<K, S> {
    /// CREATE_SESSION (RFC 8881 18.36.4): `slots` is what the client asks for, `data` what the server keeps with the session. What
    /// the server refuses by itself (sizes, flags) it refuses before. Confirming a client ends an earlier run of it.
    ///
    /// # Errors
    ///
    /// [`StateError::StaleClientId`], [`StateError::SequenceMisordered`]; [`StateError::ClientIdInUse`] and
    /// [`StateError::NoSpace`], which a retry gets too; [`StateError::Delay`] for a retry of what [`Self::remember_created`]
    /// has not got yet.
    pub fn create_session(
        &mut self,
        now: Duration,
        client: ClientId,
        sequence: u32,
        caller: ClientCaller<'_>,
        slots: u32,
        data: S,
    ) -> Result<SessionAnswer<S>, StateError> {
        let record = self.clients.of_caller(client, caller).ok_or(StateError::StaleClientId)?;
        // Before the slot: a stranger gets no reply of another's, and moves no number.
        if record.principal != *caller.principal || self.is_name_of_another(record, now) {
            return Err(StateError::ClientIdInUse);
        }
        if let CreationAnswer::Replay(reply) = record.creation.look(sequence)? {
            return Ok(SessionAnswer::Replay(reply));
        }
        let is_full = record.sessions.len() >= self.settings.bounds.sessions_of_client;
        // With the first slots, and a table of all that it is granted.
        let bytes = memory::SESSION + 2_048 + 16 * slots.clamp(1, self.settings.bounds.slots) as usize / 8;
        let has_room = !is_full && self.room_for_client(now, client, bytes).is_ok();
        let refusal = (!has_room).then_some(StateError::NoSpace);
        if let Some(record) = self.clients.get_mut(client) {
            record.creation.advance(refusal.clone());
        }
        if let Some(refusal) = refusal {
            return Err(refusal);
        }
        self.confirm(now, client);
        self.add_session(now, client, slots, data)
            .map(SessionAnswer::Created)
            .ok_or(StateError::StaleClientId)
    }

    /// Whether another principal has confirmed a client of this name since, and uses it.
    fn is_name_of_another(&self, record: &ClientRecord, now: Duration) -> bool {
        let confirmed = self.clients.confirmed(&record.owner).filter(|_| !record.is_confirmed);
        confirmed.is_some_and(|other| other.principal != record.principal && self.is_in_use(other, now))
    }

    /// The client's first session: an earlier run of it ends.
    fn confirm(&mut self, now: Duration, client: ClientId) {
        let Some(record) = self.clients.get(client).filter(|record| !record.is_confirmed) else { return };
        if let Some(old) = self.clients.confirmed(&record.owner).map(|old| old.id) {
            let principal = record.principal.clone();
            self.replace_client(now, old, &principal);
            self.journal.rest_on_all();
        }
        self.clients.confirm(client);
    }

    fn add_session(
        &mut self,
        now: Duration,
        client: ClientId,
        slots: u32,
        data: S,
    ) -> Option<Arc<LiveSession<S>>> {
        let record = self.clients.get_mut(client)?;
        record.shared.renew(now);
        self.sessions_made += 1;
        // A keyed hash: a client with a session must not find out the ids of others.
        let mut hasher = SipHasher24::new_with_keys(self.settings.seed, !self.settings.seed);
        hasher.write_u64(self.sessions_made);
        let unique = hasher.finish();
        let slots = slots.clamp(1, self.settings.bounds.slots);
        let (epoch, shared, budget) = (client.epoch(), record.shared.clone(), self.budget.clone());
        let session = self.sessions.insert(|place| {
            LiveSession::new((SessionId::new(place, epoch, unique), client), shared, slots, budget, data)
        });
        record.sessions.push(session.id());
        Some(session)
    }

    /// The answer to the CREATE_SESSION with this number could not be given: its session ends, and a retry runs.
    pub fn undo_created(&mut self, client: ClientId, sequence: u32) {
        let Some(record) = self.clients.get_mut(client) else { return };
        if let Some(session) = record.creation.undo(sequence).then(|| record.sessions.pop()).flatten() {
            self.sessions.remove(session);
        }
    }

    /// Keeps the encoded result of the CREATE_SESSION with this number for a retry.
    pub fn remember_created(&mut self, client: ClientId, sequence: u32, result: &[u8]) {
        if let Some(record) = self.clients.get_mut(client) {
            record.creation.remember(sequence, result);
        }
    }

    /// DESTROY_SESSION (RFC 8881 18.37): the client keeps opens and locks. Whether the caller's connection belongs to the session is for
    /// the server to check.
    ///
    /// # Errors
    ///
    /// [`StateError::BadSession`].
    pub fn destroy_session(&mut self, session: SessionId) -> Result<(), StateError> {
        let session = self.sessions.remove(session).ok_or(StateError::BadSession)?;
        if let Some(record) = self.clients.get_mut(session.client()) {
            record.sessions.retain(|other| *other != session.id());
        }
        Ok(())
    }
}
