//! Whether I/O may run, and what else asks about a stateid (RFC 8881 8.2, 9.1.2, 18.38, 18.48).

use std::hash::Hash;
use std::time::Duration;

use super::NfsState;
use crate::error::StateError;
use crate::ids::{ByteRange, ClientId, IoKind, IoPermit, StateId};
use crate::states::Stated;

impl<K: Clone + Eq + Hash, S> NfsState<K, S> {
    /// Whether I/O by this stateid may run, also where [`IoRights::permit`](crate::IoRights::permit) does not know. Special stateids are judged here; replace [`StateId::CURRENT`] before.
    ///
    /// # Errors
    ///
    /// [`StateError::BadStateId`], [`StateError::OldStateId`], [`StateError::OpenMode`], [`StateError::DelegationRevoked`],
    /// [`StateError::Expired`]; without an open [`StateError::Locked`], [`StateError::Grace`].
    pub fn check_io(
        &mut self,
        now: Duration,
        client: ClientId,
        stateid: StateId,
        key: &K,
        io: IoKind,
    ) -> Result<IoPermit, StateError> {
        match stateid {
            StateId::READ_BYPASS if io == IoKind::Read => Ok(IoPermit::Special),
            // A write bypasses nothing: both are the same to it (RFC 8881 9.1.2).
            StateId::ANONYMOUS | StateId::READ_BYPASS if self.grace.is_on() => Err(StateError::Grace),
            StateId::ANONYMOUS | StateId::READ_BYPASS => {
                self.check_anonymous(now, key, io).map(|()| IoPermit::Special)
            }
            _ => {
                let checked = self.check_stated(client, stateid, key, io);
                debug_assert_eq!(
                    self.rights.permit(client, stateid, key, io),
                    checked.as_ref().ok().copied()
                );
                checked
            }
        }
    }

    fn check_stated(
        &mut self,
        client: ClientId,
        stateid: StateId,
        key: &K,
        io: IoKind,
    ) -> Result<IoPermit, StateError> {
        let states = self.states_of(client)?;
        let open = match states.find(stateid)? {
            (_, Stated::Delegation(one)) if one.is_revoked => return Err(StateError::DelegationRevoked),
            (_, Stated::Delegation(one)) if one.key == *key && io == IoKind::Read => {
                return Ok(IoPermit::Special);
            }
            (_, Stated::Delegation(one)) if one.key == *key => return Err(StateError::OpenMode),
            (index, Stated::Open(open)) if open.key == *key => index,
            (_, Stated::Lock(lock)) if lock.key == *key => lock.open,
            _ => return Err(StateError::BadStateId),
        };
        let (access, _) = states.open(open).ok_or(StateError::BadStateId)?.combinations.union();
        if access.allows(io.needs()) {
            Ok(IoPermit::Open(states.name(open)))
        } else {
            Err(StateError::OpenMode)
        }
    }

    /// Whether I/O that has no open may run: of NFSv3, which need not ask while [`Self::restrictions`] is 0.
    ///
    /// # Errors
    ///
    /// [`StateError::Locked`] if the deny mode of an open forbids it.
    pub fn check_anonymous(&mut self, now: Duration, key: &K, io: IoKind) -> Result<(), StateError> {
        let in_the_way = self.files.may_access(key, io.needs(), &|client| self.is_lapsed(now, client))?;
        self.end_in_the_way(now, in_the_way);
        self.journal.rest_on(None);
        Ok(())
    }

    /// TEST_STATEID for one stateid (RFC 8881 18.48): `Err` is its status there, and no error of the operation.
    ///
    /// # Errors
    ///
    /// [`StateError::BadStateId`], [`StateError::OldStateId`], [`StateError::DelegationRevoked`].
    pub fn test_stateid(&self, client: ClientId, stateid: StateId) -> Result<(), StateError> {
        let states = self.states.get(&client).ok_or(StateError::BadStateId)?;
        match states.find(stateid)? {
            (_, Stated::Delegation(one)) if one.is_revoked => Err(StateError::DelegationRevoked),
            _ => Ok(()),
        }
    }

    /// FREE_STATEID (RFC 8881 18.38): of locks that were all let go, or of a revoked delegation.
    ///
    /// # Errors
    ///
    /// [`StateError::LocksHeld`] for an open, for a delegation, or while anything is locked; [`StateError::BadStateId`], [`StateError::OldStateId`],
    /// [`StateError::Expired`].
    pub fn free_stateid(&mut self, client: ClientId, stateid: StateId) -> Result<(), StateError> {
        if self.free_revoked(client, stateid) {
            return Ok(());
        }
        let states = self.states.get_mut(&client).ok_or(StateError::BadStateId)?;
        let (index, stated) = states.find(stateid)?;
        let Stated::Lock(lock) = stated else { return Err(StateError::LocksHeld) };
        if !self.files.within(&lock.key, &lock.owner, ByteRange::ALL).is_empty() {
            return Err(StateError::LocksHeld);
        }
        states.remove_lock(index);
        Ok(())
    }
}
