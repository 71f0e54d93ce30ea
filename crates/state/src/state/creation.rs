//! CREATE_SESSION and DESTROY_SESSION (RFC 8881 18.36, 18.37).

use std::hash::Hash;
use std::time::Duration;

use super::{NfsState, SessionAnswer};
use crate::clients::{ClientCaller, CreationAnswer};
use crate::effects::ClientEnd;
use crate::error::StateError;
use crate::ids::{ClientId, SessionId};
use crate::memory;

impl<K: Clone + Eq + Hash, S> NfsState<K, S> {
    /// CREATE_SESSION (RFC 8881 18.36.4): `slots` is what the client asks for, `data` what the server keeps with the session. What
    /// the server refuses by itself (sizes, flags) it refuses before. Confirming a client ends an earlier run of it.
    ///
    /// # Errors
    ///
    /// [`StateError::StaleClientId`], [`StateError::SequenceMisordered`]; [`StateError::ClientIdInUse`] and
    /// [`StateError::NoSpace`], which a retry gets too; [`StateError::Delay`] for a retry of what [`Self::answer_created`]
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
        let confirmed = self.clients.confirmed(&record.owner).filter(|_| !record.is_confirmed);
        // Another principal has confirmed a client of this name since, and uses it.
        let is_of_another =
            confirmed.is_some_and(|other| other.principal != record.principal && self.is_in_use(other, now));
        if record.principal != *caller.principal || is_of_another {
            return Err(StateError::ClientIdInUse);
        }
        if let CreationAnswer::Replay(reply) = record.creation.look(sequence)? {
            return Ok(SessionAnswer::Replay(reply));
        }
        let slots = slots.clamp(1, self.settings.bounds.slots);
        let is_full = record.sessions.len() >= self.settings.bounds.sessions_of_client;
        // With the first slots, and a table of all that it is granted.
        let bytes = memory::SESSION + 2_048 + 16 * slots as usize / 8;
        let has_room = !is_full && self.room_for_client(now, client, bytes).is_ok();
        let refusal = (!has_room).then_some(StateError::NoSpace);
        if let Some(record) = self.clients.get_mut(client) {
            record.creation.advance(refusal.clone());
        }
        if let Some(refusal) = refusal {
            return Err(refusal);
        }
        if let Some(record) = self.clients.get(client).filter(|record| !record.is_confirmed) {
            if let Some(old) = self.clients.confirmed(&record.owner) {
                let (old, by_itself) = (old.id, old.principal == record.principal);
                self.end_client(now, old, ClientEnd::Replaced, by_itself);
                self.reclaims.journal.rest_on_all();
            }
            self.clients.confirm(client);
        }
        let record = self.clients.get_mut(client).ok_or(StateError::StaleClientId)?;
        record.shared.renew(now);
        let session = self.sessions.add(client, &record.shared, slots, data);
        record.sessions.push(session.id());
        Ok(SessionAnswer::Created(session))
    }

    /// Keeps the encoded result of the CREATE_SESSION with this number for a retry. Without one, since it could not be given, its session
    /// ends, and a retry runs.
    pub fn answer_created(&mut self, client: ClientId, sequence: u32, result: Option<&[u8]>) {
        let Some(record) = self.clients.get_mut(client) else { return };
        if let Some(result) = result {
            record.creation.remember(sequence, result);
        } else if let Some(session) = record.creation.undo(sequence).then(|| record.sessions.pop()).flatten()
        {
            self.sessions.remove(session);
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
