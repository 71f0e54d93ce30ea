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

/// What NLM hosts ask, at one time.
#[derive(Debug)]
pub struct NlmCalls<'s, K, S> {
    state: &'s mut NfsState<K, S>,
    now: Duration,
}

impl<K: Clone + Eq + Hash, S> NfsState<K, S> {
    /// What NLM hosts ask.
    pub fn nlm(&mut self, now: Duration) -> NlmCalls<'_, K, S> {
        NlmCalls { state: self, now }
    }
}

impl<K: Clone + Eq + Hash, S> NlmCalls<'_, K, S> {
    /// The number of an NLM host. `host` is what the server needs to know of it after a restart, and the same each time. A host that has nothing
    /// for a lease loses its number ([`Effect::HostEnded`](crate::Effect::HostEnded)).
    ///
    /// # Errors
    ///
    /// [`StateError::NoSpace`].
    pub fn host(&mut self, host: &[u8], network: IpAddr) -> Result<HostId, StateError> {
        if let Some(known) = self.state.hosts.find(host) {
            return Ok(known);
        }
        self.state.room(self.now, network, None, memory::HOST + 2 * host.len())?;
        self.state.hosts.number(host, network, self.state.settings.bounds.hosts).ok_or(StateError::NoSpace)
    }

    /// LOCK of NLM. A repeated one is granted again. The host's record is written before.
    ///
    /// # Errors
    ///
    /// [`StateError::Denied`], [`StateError::Deadlock`], [`StateError::Grace`], [`StateError::NoGrace`], [`StateError::ReclaimBad`],
    /// [`StateError::ReclaimConflict`], [`StateError::NoSpace`]; [`StateError::Delay`] while delegations are asked for back.
    pub fn lock(&mut self, request: NlmLockRequest<'_, K>) -> Result<LockGrant<K>, StateError> {
        let NlmLockRequest { owner, key, kind, range, waits, is_reclaim } = request;
        self.state.reclaims.admit_host(self.state.hosts.get(owner.host), is_reclaim)?;
        if !self.state.files.locks.has_room(Party::Host(owner.host), key) {
            return Err(StateError::NoSpace);
        }
        let network = self.state.hosts.get(owner.host).ok_or(StateError::NoSpace)?.network;
        self.state.room(self.now, network, None, 2 * (memory::RANGE + owner.oh.len()))?;
        if kind == LockKind::Write {
            // A client with a delegation may have locked the file for reading without a call.
            self.state.recall(self.now, key, None)?;
        }
        let (host, owner) = (owner.host, LockOwner::Nlm(owner.clone()));
        let wish = LockWish { key, owner: &owner, range, kind };
        self.state
            .make_way(self.now, &wish, waits && !is_reclaim)
            .map_err(|error| conflict(error, is_reclaim))?;
        self.state.reclaims.granted_to_host(self.now, self.state.hosts.get(host), is_reclaim);
        Ok(self.state.grant(self.now, &wish))
    }

    /// TEST of NLM: ends nobody.
    ///
    /// # Errors
    ///
    /// [`StateError::Denied`], [`StateError::Grace`].
    pub fn test(
        &self,
        owner: &NlmOwner,
        key: &K,
        kind: LockKind,
        range: ByteRange,
    ) -> Result<(), StateError> {
        self.state.test(self.now, &LockWish { key, owner: &LockOwner::Nlm(owner.clone()), range, kind })
    }

    /// CANCEL of NLM: whether such a lock waited. If it did not, it may have been granted: then the host unlocks.
    pub fn cancel(&mut self, owner: &NlmOwner, key: &K, kind: LockKind, range: ByteRange) -> bool {
        let has_waited = self.state.files.locks.cancel(&LockWish {
            key,
            owner: &LockOwner::Nlm(owner.clone()),
            range,
            kind,
        });
        self.state.wake(self.now, key);
        has_waited
    }

    /// UNLOCK of NLM: of any bytes.
    ///
    /// # Errors
    ///
    /// [`StateError::NoSpace`] if it would make two ranges of one beyond the bound.
    pub fn unlock(&mut self, owner: &NlmOwner, key: &K, range: ByteRange) -> Result<(), StateError> {
        self.state.let_go(self.now, &LockOwner::Nlm(owner.clone()), key, range)
    }

    /// SHARE of NLM: one for each owner and file; a second takes the place of the first. NLM's shares have no `svid`: give 0.
    ///
    /// # Errors
    ///
    /// [`StateError::ShareDenied`], [`StateError::Grace`], [`StateError::NoGrace`], [`StateError::ReclaimBad`],
    /// [`StateError::ReclaimConflict`], [`StateError::NoSpace`]; [`StateError::Delay`] while delegations are asked for back.
    pub fn share(
        &mut self,
        owner: &NlmOwner,
        key: &K,
        (access, deny): (ShareAccess, ShareDeny),
        is_reclaim: bool,
    ) -> Result<(), StateError> {
        self.state.reclaims.admit_host(self.state.hosts.get(owner.host), is_reclaim)?;
        let (holder, mode) = (ShareHolder::Nlm(owner.clone()), ShareMode { access, deny });
        if self.state.files.shares.usage().count(Party::Host(owner.host))
            >= self.state.settings.bounds.states_of_client
        {
            return Err(StateError::NoSpace);
        }
        let network = self.state.hosts.get(owner.host).ok_or(StateError::NoSpace)?.network;
        self.state.room(self.now, network, None, memory::SHARE + owner.oh.len())?;
        self.state.share(self.now, &holder, key, mode).map_err(|error| conflict(error, is_reclaim))?;
        self.state.reclaims.granted_to_host(self.now, self.state.hosts.get(owner.host), is_reclaim);
        self.state.files.shares.set(key, &holder, Some(mode));
        Ok(())
    }

    /// UNSHARE of NLM: nothing to take back is no error.
    pub fn unshare(&mut self, owner: &NlmOwner, key: &K) {
        self.state.files.shares.set(key, &ShareHolder::Nlm(owner.clone()), None);
    }
}
