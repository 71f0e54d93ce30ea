//! What NLM hosts ask (C702, chapter 10; RFC 1813, appendix II).

use std::hash::Hash;
use std::net::IpAddr;
use std::time::Duration;

use super::locks::conflict;
use super::{NfsState, NlmLockRequest};
use crate::effects::LockGrant;
use crate::error::StateError;
use crate::files::{LockWish, Party, ShareHolder, ShareMode};
use crate::ids::{ByteRange, HostId, LockKind, LockOwner, NlmOwner, ShareAccess, ShareDeny};
use crate::memory;

impl<K: Clone + Eq + Hash, S> NfsState<K, S> {
    /// The number of an NLM host. `host` is what the server needs to know of it after a restart, and the same each time. A host that has nothing
    /// for a lease loses its number ([`Effect::HostEnded`](crate::Effect::HostEnded)).
    ///
    /// # Errors
    ///
    /// [`StateError::NoSpace`].
    pub fn nlm_host(&mut self, now: Duration, host: &[u8], network: IpAddr) -> Result<HostId, StateError> {
        if let Some(known) = self.hosts.find(host) {
            return Ok(known);
        }
        self.room(now, network, None, memory::HOST + 2 * host.len())?;
        self.hosts.number(host, network, self.settings.bounds.hosts).ok_or(StateError::NoSpace)
    }

    /// Whether an NLM host has a number.
    pub fn knows_nlm_host(&self, host: &[u8]) -> bool {
        self.hosts.find(host).is_some()
    }

    /// The number of a host that has one.
    pub fn known_nlm_host(&self, host: &[u8]) -> Option<HostId> {
        self.hosts.find(host)
    }

    /// LOCK of NLM. A repeated one is granted again. The host's record is written before.
    ///
    /// # Errors
    ///
    /// [`StateError::Denied`], [`StateError::Deadlock`], [`StateError::Grace`], [`StateError::NoGrace`], [`StateError::ReclaimBad`],
    /// [`StateError::ReclaimConflict`], [`StateError::NoSpace`]; [`StateError::Delay`] while delegations are asked for back.
    pub fn nlm_lock(
        &mut self,
        now: Duration,
        request: NlmLockRequest<'_, K>,
    ) -> Result<LockGrant<K>, StateError> {
        let NlmLockRequest { owner, key, kind, range, waits, is_reclaim } = request;
        self.admit_host(owner.host, is_reclaim)?;
        let host = owner.host;
        if !self.has_room_for_range(Party::Host(host), key) {
            return Err(StateError::NoSpace);
        }
        self.room_for_host(now, host, 2 * (memory::RANGE + owner.oh.len()))?;
        if kind == LockKind::Write {
            // A client with a delegation may have locked the file for reading without a call.
            self.recall(now, key, None)?;
        }
        let owner = LockOwner::Nlm(owner.clone());
        let wish = LockWish { key, owner: &owner, range, kind };
        self.make_way(now, &wish, waits && !is_reclaim).map_err(|error| conflict(error, is_reclaim))?;
        self.granted_to_host(now, host, is_reclaim);
        let grant = self.files.grant(&wish, &mut self.effects);
        self.freed = Some((now, key.clone()));
        Ok(grant)
    }

    /// TEST of NLM: ends nobody.
    ///
    /// # Errors
    ///
    /// [`StateError::Denied`], [`StateError::Grace`].
    pub fn nlm_test(
        &self,
        now: Duration,
        owner: &NlmOwner,
        key: &K,
        kind: LockKind,
        range: ByteRange,
    ) -> Result<(), StateError> {
        self.test(now, &LockWish { key, owner: &LockOwner::Nlm(owner.clone()), range, kind })
    }

    /// CANCEL of NLM: whether such a lock waited. If it did not, it may have been granted: then the host unlocks.
    pub fn nlm_cancel(
        &mut self,
        now: Duration,
        owner: &NlmOwner,
        key: &K,
        kind: LockKind,
        range: ByteRange,
    ) -> bool {
        let has_waited =
            self.files.cancel(&LockWish { key, owner: &LockOwner::Nlm(owner.clone()), range, kind });
        self.wake(now, key);
        has_waited
    }

    /// UNLOCK of NLM: of any bytes.
    ///
    /// # Errors
    ///
    /// [`StateError::NoSpace`] if it would make two ranges of one beyond the bound.
    pub fn nlm_unlock(
        &mut self,
        now: Duration,
        owner: &NlmOwner,
        key: &K,
        range: ByteRange,
    ) -> Result<(), StateError> {
        self.let_go(now, &LockOwner::Nlm(owner.clone()), key, range)
    }

    /// SHARE of NLM: one for each owner and file; a second takes the place of the first. NLM's shares have no `svid`: give 0.
    ///
    /// # Errors
    ///
    /// [`StateError::ShareDenied`], [`StateError::Grace`], [`StateError::NoGrace`], [`StateError::ReclaimBad`],
    /// [`StateError::ReclaimConflict`], [`StateError::NoSpace`]; [`StateError::Delay`] while delegations are asked for back.
    pub fn nlm_share(
        &mut self,
        now: Duration,
        owner: &NlmOwner,
        key: &K,
        (access, deny): (ShareAccess, ShareDeny),
        is_reclaim: bool,
    ) -> Result<(), StateError> {
        self.admit_host(owner.host, is_reclaim)?;
        let (holder, mode) = (ShareHolder::Nlm(owner.clone()), ShareMode { access, deny });
        if self.files.shares_of(owner.host) >= self.settings.bounds.states_of_client {
            return Err(StateError::NoSpace);
        }
        self.room_for_host(now, owner.host, memory::SHARE + owner.oh.len())?;
        self.share(now, &holder, key, mode).map_err(|error| conflict(error, is_reclaim))?;
        self.granted_to_host(now, owner.host, is_reclaim);
        self.files.set_share(key, holder, Some(mode));
        Ok(())
    }

    /// UNSHARE of NLM: nothing to take back is no error.
    pub fn nlm_unshare(&mut self, owner: &NlmOwner, key: &K) {
        self.files.set_share(key, ShareHolder::Nlm(owner.clone()), None);
    }
}
