//! Read delegations (RFC 8881 10.4): given beside an open, asked for back before anybody else changes the file, revoked where they
//! do not come back.

use std::hash::Hash;
use std::time::Duration;

use super::NfsState;
use crate::effects::{ClientEnd, Effect};
use crate::error::StateError;
use crate::ids::{ClientId, StateId};

impl<K: Clone + Eq + Hash, S> NfsState<K, S> {
    /// Gives a client a read delegation of a file that its OPEN for reading was just granted for, or of a directory, if it may have one: nobody has the file
    /// open for writing, has locked any of it for writing or waits to, or keeps others from reading, no change is under way, and none was asked for
    /// back lately. The client must have a back channel. None is given while clients reclaim, and none can be reclaimed: what the
    /// file was since the server's last run ended, nobody knows.
    pub fn delegate(&mut self, now: Duration, client: ClientId, key: &K) -> Option<StateId> {
        self.reclaims.admit_client(self.clients.get(client), false).ok()?;
        let bounds = &self.settings.bounds;
        // That of a directory is asked for without an open.
        let states = self.states.of_new(client);
        if states.count() >= bounds.states_of_client || self.files.delegations.count() >= bounds.delegations {
            return None;
        }
        let files = &mut self.files;
        let given = states.add_delegation(key, |stateid| {
            !files.excludes_delegations(key) && files.delegations.give(now, key, client, stateid)
        })?;
        self.reclaims.granted_to_client(now, self.clients.get(client), false);
        Some(given)
    }

    /// Something of a file is about to be changed, by a client or by somebody who is none: asks for delegations of others back.
    ///
    /// # Errors
    ///
    /// [`StateError::Delay`] until they are.
    pub fn recall(&mut self, now: Duration, key: &K, by: Option<ClientId>) -> Result<(), StateError> {
        let mut holders = self.files.delegations.holders(key, by);
        holders.retain(|client| self.clients.is_lapsed(now, *client));
        self.end_clients(now, holders, ClientEnd::Conflict);
        self.reclaims.journal.rest_on(None);
        match self.files.delegations.recall(now, key, by, self.reclaims.effects()) {
            true => Err(StateError::Delay),
            false => Ok(()),
        }
    }

    /// Somebody who asked nobody has changed files, of those that are meant any: asks for all delegations of them back.
    pub fn recall_all(&mut self, now: Duration, is_meant: impl Fn(&K) -> bool) {
        let meant: Vec<K> = self.files.delegations.keys().filter(|key| is_meant(key)).cloned().collect();
        for key in meant {
            // They come back when they do.
            let _ = self.recall(now, &key, None);
        }
    }

    /// Whether a client has this delegation of the file, so that it may open by it (CLAIM_DELEGATE_CUR).
    ///
    /// # Errors
    ///
    /// [`StateError::BadStateId`], [`StateError::OldStateId`], [`StateError::DelegationRevoked`], [`StateError::Expired`].
    pub fn check_delegation(
        &mut self,
        client: ClientId,
        stateid: StateId,
        key: &K,
    ) -> Result<(), StateError> {
        self.states_of(client)?.find_delegation(stateid, key).map(|_| ())
    }

    /// DELEGRETURN (RFC 8881 18.6).
    ///
    /// # Errors
    ///
    /// As [`Self::check_delegation`].
    pub fn return_delegation(
        &mut self,
        client: ClientId,
        stateid: StateId,
        key: &K,
    ) -> Result<(), StateError> {
        let states = self.states_of(client)?;
        let index = states.find_delegation(stateid, key)?;
        states.remove_delegation(index);
        self.files.delegations.end(key, client);
        Ok(())
    }

    /// Takes delegations that were recalled a lease ago: their stateids are answered as revoked until the client frees them.
    pub(super) fn revoke_overdue(&mut self, now: Duration) {
        for (key, client, stateid) in self.files.delegations.take_overdue(now, self.settings.lease) {
            if let (Ok(states), Some(record)) = (self.states.of_mut(client), self.clients.get(client)) {
                states.revoke(stateid);
                record.shared.set_revoked(true);
            }
            self.reclaims.effects().push(Effect::Revoked { client, key });
        }
    }
}
