//! Read delegations (RFC 8881 10.4): given beside an open, asked for back before anybody else changes the file, revoked where they
//! do not come back.

use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use super::NfsState;
use crate::delegations::RecallCause;
use crate::effects::Effect;
use crate::error::StateError;
use crate::ids::{ClientId, StateId};
use crate::sessions::RECALLABLE_STATE_REVOKED;
use crate::states::{ClientStates, Stated};

impl<K: Clone + Eq + Hash, S> NfsState<K, S> {
    /// Gives a client a read delegation of a file that its OPEN for reading was just granted for, or of a directory, if it may have one: nobody has the file
    /// open for writing, has locked any of it for writing or waits to, or keeps others from reading, no change is under way, and none was asked for
    /// back lately. The client must have a back channel. None is given while clients reclaim, and none can be reclaimed: what the
    /// file was since the server's last run ended, nobody knows.
    pub fn delegate(&mut self, now: Duration, client: ClientId, key: &K) -> Option<StateId> {
        self.admit_client(client, false).ok()?;
        let (bounds, rights) = (&self.settings.bounds, &self.rights);
        // That of a directory is asked for without an open.
        let states =
            self.states.entry(client).or_insert_with(|| ClientStates::new(client, Arc::clone(rights)));
        if states.count() >= bounds.states_of_client || self.delegations.count() >= bounds.delegations {
            return None;
        }
        let index = states.add_delegation(key);
        if self.files.excludes_delegations(key) || !self.delegations.give(now, key, client, index) {
            states.remove_delegation(index);
            return None;
        }
        let given = states.keep_delegation(index);
        self.granted_to_client(now, client, false);
        Some(given)
    }

    /// Something of a file is about to be changed, by a client or by somebody who is none: asks for delegations of others back.
    ///
    /// # Errors
    ///
    /// [`StateError::Delay`] until they are.
    pub fn recall(&mut self, now: Duration, key: &K, by: Option<ClientId>) -> Result<(), StateError> {
        let mut outcome = self.recall_of(now, RecallCause { key, by, in_it: false });
        for directory in self.delegations.parents(key) {
            let of_parent = self.recall_of(now, RecallCause { key: &directory, by, in_it: true });
            outcome = outcome.and(of_parent);
        }
        outcome
    }

    fn recall_of(&mut self, now: Duration, cause: RecallCause<'_, K>) -> Result<(), StateError> {
        let lapsed = self.delegations.holders(cause).filter(|client| self.is_lapsed(now, *client)).collect();
        self.end_in_the_way(now, lapsed);
        self.journal.rest_on(None);
        for one in self.delegations.recall(now, cause) {
            let Some(states) = self.states.get(&one.client) else { continue };
            let (client, stateid, key) = (one.client, states.current(one.index), cause.key.clone());
            self.effects.push(Effect::Recall { client, stateid, key });
        }
        match self.delegations.holders(cause).next() {
            Some(_) => Err(StateError::Delay),
            None => Ok(()),
        }
    }

    /// Somebody who asked nobody has changed files, of those that are meant any: asks for all delegations of them back.
    pub fn recall_all(&mut self, now: Duration, is_meant: impl Fn(&K) -> bool) {
        let meant: Vec<K> = self.delegations.keys().filter(|key| is_meant(key)).cloned().collect();
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
        self.delegations.end(key, client);
        Ok(())
    }

    /// Takes delegations that were asked for a lease ago: their stateids are answered as revoked until the client frees them.
    pub(super) fn revoke_overdue(&mut self, now: Duration) {
        for (key, one) in self.delegations.overdue(now, self.settings.lease) {
            self.delegations.end(&key, one.client);
            if let Some(states) = self.states.get_mut(&one.client) {
                states.revoke(one.index);
            }
            self.flag_revoked(one.client);
            self.effects.push(Effect::Revoked { client: one.client, key });
        }
    }

    /// Frees the stateid of a revoked delegation (FREE_STATEID). Whether it was one.
    pub(super) fn free_revoked(&mut self, client: ClientId, stateid: StateId) -> bool {
        let Some(states) = self.states.get_mut(&client) else { return false };
        let Ok((index, Stated::Delegation(one))) = states.find(stateid) else { return false };
        let is_revoked = one.is_revoked;
        if is_revoked {
            states.remove_delegation(index);
            self.flag_revoked(client);
        }
        is_revoked
    }

    /// Says in every answer to a client whether it has revoked delegations.
    fn flag_revoked(&self, client: ClientId) {
        let has_any = self.states.get(&client).is_some_and(|states| states.count_revoked() > 0);
        if let Some(record) = self.clients.get(client) {
            let set = if has_any { RECALLABLE_STATE_REVOKED } else { 0 };
            record.shared.change_flags(set, RECALLABLE_STATE_REVOKED);
        }
    }

    /// Ends all delegations of a client.
    pub(super) fn end_delegations(&mut self, client: ClientId) {
        let keys: Vec<K> =
            self.states.get(&client).into_iter().flat_map(|states| states.delegations().cloned()).collect();
        keys.iter().for_each(|key| self.delegations.end(key, client));
    }
}
