//! OPEN, OPEN_DOWNGRADE, CLOSE (RFC 8881 18.16, 18.18, 18.2).

use std::hash::Hash;
use std::time::Duration;

use super::{NfsState, OpenAnswer, OpenRequest};
use crate::effects::ClientEnd;
use crate::error::StateError;
use crate::files::{ShareHolder, ShareMode};
use crate::ids::{ClientId, ShareAccess, ShareDeny, StateId};
use crate::states::{ClientStates, bytes_of_open};

impl<K: Clone + Eq + Hash, S> NfsState<K, S> {
    /// OPEN (RFC 8881 18.16), after the file is found or made and before it is truncated. An owner that has the file open gets more of it.
    ///
    /// # Errors
    ///
    /// [`StateError::ShareDenied`], [`StateError::Grace`], [`StateError::NoGrace`], [`StateError::ReclaimBad`],
    /// [`StateError::ReclaimConflict`], [`StateError::NoSpace`], [`StateError::Expired`]; [`StateError::Delay`] while delegations are
    /// asked for back; [`StateError::Invalid`] for no access.
    pub fn open(&mut self, now: Duration, request: OpenRequest<'_, K>) -> Result<OpenAnswer, StateError> {
        let OpenRequest { client, owner, key, access, deny, is_reclaim } = request;
        if access == ShareAccess::NONE {
            return Err(StateError::Invalid);
        }
        let states_most = self.settings.bounds.states_of_client;
        self.reclaims.admit_client(self.clients.get(client), is_reclaim)?;
        if self.states.of_new(client).open_of(key, owner).is_none() {
            self.room_for_client(now, client, bytes_of_open(owner))?;
        }
        let states = self.states_of(client)?;
        let there = states.open_of(key, owner);
        if there.is_none() && states.count() >= states_most {
            return Err(StateError::NoSpace);
        }
        let index = there.unwrap_or_else(|| states.add_open(key, owner));
        let open = states.name(index);
        let shared = self.share(now, &ShareHolder::Open(open), key, ShareMode { access, deny });
        if shared.is_err() && there.is_none() {
            self.states_of(client)?.remove_open(index);
        }
        shared.map_err(|error| if is_reclaim { StateError::ReclaimConflict } else { error })?;
        self.reclaims.granted_to_client(now, self.clients.get(client), is_reclaim);
        let states = self.states.of_mut(client)?;
        let shown = states.open_mut(index).ok_or(StateError::Expired)?;
        shown.combinations.add(access, deny);
        let (access, deny) = shown.combinations.union();
        let stateid = states.change(index);
        self.files.shares.set(key, &ShareHolder::Open(open), Some(ShareMode { access, deny }));
        Ok(OpenAnswer { stateid, open, is_new: there.is_none() })
    }

    /// Whether a holder may have a file so; clients whose lease has passed make way.
    pub(super) fn share(
        &mut self,
        now: Duration,
        holder: &ShareHolder,
        key: &K,
        mode: ShareMode,
    ) -> Result<(), StateError> {
        if mode.excludes_delegations() {
            self.recall(now, key, holder.client())?;
        }
        let in_the_way = {
            let lapsed = |other| holder.client() != Some(other) && self.clients.is_lapsed(now, other);
            self.files.shares.may_share(key, holder, mode, &lapsed)?
        };
        self.end_clients(now, in_the_way, ClientEnd::Conflict);
        Ok(())
    }

    /// OPEN_DOWNGRADE (RFC 8881 18.18): to what some of the owner's OPENs together asked for.
    ///
    /// # Errors
    ///
    /// [`StateError::Invalid`] for anything else, [`StateError::BadStateId`], [`StateError::OldStateId`], [`StateError::Expired`].
    pub fn downgrade(
        &mut self,
        client: ClientId,
        stateid: StateId,
        key: &K,
        access: ShareAccess,
        deny: ShareDeny,
    ) -> Result<StateId, StateError> {
        let states = self.states_of(client)?;
        let index = states.find_open(stateid, key)?;
        let open = states.open_mut(index).ok_or(StateError::BadStateId)?;
        open.combinations = open.combinations.within(access, deny).ok_or(StateError::Invalid)?;
        let (name, stateid) = (states.name(index), states.change(index));
        self.files.shares.set(key, &ShareHolder::Open(name), Some(ShareMode { access, deny }));
        Ok(stateid)
    }

    /// CLOSE (RFC 8881 18.2). Locks under the open end. Answer with [`StateId::INVALID`].
    ///
    /// # Errors
    ///
    /// [`StateError::BadStateId`], [`StateError::OldStateId`], [`StateError::Expired`].
    pub fn close(
        &mut self,
        now: Duration,
        client: ClientId,
        stateid: StateId,
        key: &K,
    ) -> Result<(), StateError> {
        let index = self.states_of(client)?.find_open(stateid, key)?;
        self.files.end_open(self.states.of_mut(client)?, index, self.reclaims.effects());
        self.wake(now, key);
        Ok(())
    }

    /// What a client's stateids stand for.
    ///
    /// # Errors
    ///
    /// [`StateError::Expired`] if the client is gone, [`StateError::BadStateId`] if it has none.
    pub(super) fn states_of(&mut self, client: ClientId) -> Result<&mut ClientStates<K>, StateError> {
        self.clients.get(client).ok_or(StateError::Expired)?;
        self.states.of_mut(client)
    }
}
