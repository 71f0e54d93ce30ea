//! Whether I/O may run, and what else asks about a stateid (RFC 8881 8.2, 9.1.2, 18.38, 18.48).

use std::hash::Hash;
use std::time::Duration;

use super::NfsState;
use crate::effects::ClientEnd;
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
            StateId::ANONYMOUS | StateId::READ_BYPASS if self.reclaims.is_grace() => Err(StateError::Grace),
            StateId::ANONYMOUS | StateId::READ_BYPASS => {
                self.check_anonymous(now, key, io).map(|()| IoPermit::Special)
            }
            _ => {
                let checked = self.states_of(client)?.permit(stateid, key, io);
                debug_assert_eq!(
                    self.states.rights().permit(client, stateid, key, io),
                    checked.as_ref().ok().copied()
                );
                checked
            }
        }
    }

    /// Whether I/O that has no open may run: of NFSv3, which need not ask while [`ShareTable::restrictions`](crate::ShareTable::restrictions) is 0.
    ///
    /// # Errors
    ///
    /// [`StateError::Locked`] if the deny mode of an open forbids it.
    pub fn check_anonymous(&mut self, now: Duration, key: &K, io: IoKind) -> Result<(), StateError> {
        let in_the_way =
            self.files.shares.may_access(key, io.needs(), &|client| self.clients.is_lapsed(now, client))?;
        self.end_clients(now, in_the_way, ClientEnd::Conflict);
        self.reclaims.journal.rest_on(None);
        Ok(())
    }

    /// TEST_STATEID for one stateid (RFC 8881 18.48): `Err` is its status there, and no error of the operation.
    ///
    /// # Errors
    ///
    /// [`StateError::BadStateId`], [`StateError::OldStateId`], [`StateError::DelegationRevoked`].
    pub fn test_stateid(&self, client: ClientId, stateid: StateId) -> Result<(), StateError> {
        match self.states.of(client)?.find(stateid)? {
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
        let states = self.states.of_mut(client)?;
        match states.find(stateid)? {
            (index, Stated::Delegation(one)) if one.is_revoked => {
                states.remove_delegation(index);
                if let Some(record) = self.clients.get(client) {
                    record.shared.set_revoked(states.count_revoked() > 0);
                }
            }
            (index, Stated::Lock(lock))
                if self.files.locks.ranges.within(&lock.key, &lock.owner, ByteRange::ALL).is_empty() =>
            {
                states.remove_lock(index);
            }
            _ => return Err(StateError::LocksHeld),
        }
        Ok(())
    }
}
