//! The signatures of the facade.
#![allow(clippy::todo, unused_variables, missing_docs, unused)]
use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use super::*;
use crate::effects::{DurableRecord, Effect, Effects, LockGrant, Serial};
use crate::error::{LockConflict, StateError};
use crate::ids::*;
use crate::records::RecoveryRecords;
use crate::sessions::SessionTable;
use crate::settings::StateSettings;

/// All state of NFSv4 and NLM. Its methods are grouped: clients and sessions, opens, locks, NLM, time, views. `now` is the time since the
/// start of the server by a clock that only goes forward, also while the host sleeps.
pub struct NfsState<K, S> {
    pub(super) key: Option<K>,
    pub(super) table: Arc<SessionTable<S>>,
}

/// Start, effects, time.
impl<K: Clone + Eq + Hash, S> NfsState<K, S> {
    /// The state at the start of the server. `records` is what the log of earlier runs comes to. If it names anybody, grace begins, else
    /// there is none. The first effects hold the record of the start.
    pub fn new(settings: StateSettings, records: RecoveryRecords) -> Self {
        todo!()
    }

    /// What to do because of the calls since the last time. Take them before the lock on the state is let go, and queue them in this
    /// order.
    pub fn take_effects(&mut self) -> Effects<K> {
        todo!()
    }

    /// The sessions, for SEQUENCE.
    pub fn sessions(&self) -> Arc<SessionTable<S>> {
        todo!()
    }

    /// Deny modes outstanding, of opens and of NLM's shares: while it is 0, NFSv3 need not ask [`Self::check_anonymous`].
    pub fn restrictions(&self) -> Arc<AtomicUsize> {
        todo!()
    }

    /// What the log comes to, to write it anew.
    pub fn records(&self) -> &RecoveryRecords {
        todo!()
    }

    /// NLM hosts of earlier runs: to be told of the restart.
    pub fn hosts_to_notify(&self) -> Vec<Box<[u8]>> {
        todo!()
    }

    /// Whether only reclaims are granted. Other operations that RFC 8881 forbids in grace (REMOVE, RENAME) ask this.
    pub fn is_grace(&self) -> bool {
        todo!()
    }

    /// Lets time pass: to be called about once a second. Drops clients whose time is over, gives turns to waiters, ends grace. A second call
    /// with the same time does nothing.
    pub fn expire(&mut self, now: Duration) {
        todo!()
    }
}

/// Clients and sessions.
impl<K: Clone + Eq + Hash, S> NfsState<K, S> {
    /// EXCHANGE_ID (RFC 8881 18.35.4, `update`: `EXCHGID4_FLAG_UPD_CONFIRMED_REC_A`). A record that it replaces stays until
    /// CREATE_SESSION confirms the new one; an unconfirmed one lives a lease.
    ///
    /// # Errors
    ///
    /// `ClientIdInUse`, `NotSame`, `Permission`, `NoEntry`; `Delay` if there are too many clients.
    pub fn exchange_id(
        &mut self,
        now: Duration,
        identity: ClientIdentity<'_>,
        update: bool,
    ) -> Result<ExchangeAnswer, StateError> {
        todo!()
    }

    /// CREATE_SESSION (RFC 8881 18.36.4): `slots` as the client asks, `data` for the server. What the server refuses by itself (TOOSMALL, unknown flags) it
    /// refuses before. Confirming a client drops what an earlier run of it had. Errors other than
    /// `StaleClientId`, `SequenceMisordered` and `Delay` are remembered as the reply here.
    ///
    /// # Errors
    ///
    /// `StaleClientId`, `SequenceMisordered`, `ClientIdInUse`, `NoSpace`; `Delay` for a retry of what is not yet remembered.
    pub fn create_session(
        &mut self,
        now: Duration,
        client: ClientId,
        sequence: u32,
        principal: &Principal,
        slots: u32,
        data: S,
    ) -> Result<SessionAnswer<S>, StateError> {
        todo!()
    }

    /// Keeps the encoded result of the CREATE_SESSION with this number for a retry.
    pub fn remember_created(&mut self, client: ClientId, sequence: u32, result: &[u8]) {
        todo!()
    }

    /// DESTROY_SESSION (RFC 8881 18.37). Opens and locks stay.
    ///
    /// # Errors
    ///
    /// `BadSession`.
    pub fn destroy_session(&mut self, now: Duration, session: SessionId) -> Result<(), StateError> {
        todo!()
    }

    /// DESTROY_CLIENTID (RFC 8881 18.50).
    ///
    /// # Errors
    ///
    /// `StaleClientId` if unknown, `ClientIdBusy` with sessions, opens or locks.
    pub fn destroy_client_id(&mut self, now: Duration, client: ClientId) -> Result<(), StateError> {
        todo!()
    }

    /// RECLAIM_COMPLETE (RFC 8881 18.51). For one file system (`rca_one_fs`) it changes nothing.
    ///
    /// # Errors
    ///
    /// `CompleteAlready`, `Expired`.
    pub fn reclaim_complete(
        &mut self,
        now: Duration,
        client: ClientId,
        one_fs: bool,
    ) -> Result<(), StateError> {
        todo!()
    }

    /// An administrator takes everything from a client. Returns whether there was one.
    pub fn release_client(&mut self, now: Duration, client: ClientId) -> bool {
        todo!()
    }
}

/// Opens.
impl<K: Clone + Eq + Hash, S> NfsState<K, S> {
    /// OPEN (RFC 8881 18.16), after the file is found or made and before it is truncated. An owner that has the file open gets more of it, and the
    /// next seqid.
    ///
    /// # Errors
    ///
    /// `ShareDenied`, `Grace`, `NoGrace`, `ReclaimBad`, `ReclaimConflict`, `NoSpace`, `Expired`; `Invalid` for no access.
    pub fn open(&mut self, now: Duration, request: OpenRequest<'_, K>) -> Result<OpenAnswer, StateError> {
        todo!()
    }

    /// OPEN_DOWNGRADE (RFC 8881 18.18): to what some of the owner's OPENs together asked for.
    ///
    /// # Errors
    ///
    /// `Invalid` for anything else, `BadStateId`, `OldStateId`, `Expired`.
    pub fn downgrade(
        &mut self,
        now: Duration,
        client: ClientId,
        stateid: StateId,
        key: &K,
        access: ShareAccess,
        deny: ShareDeny,
    ) -> Result<StateId, StateError> {
        todo!()
    }

    /// CLOSE (RFC 8881 18.2). Locks under the open are let go. Answer with [`StateId::INVALID`].
    ///
    /// # Errors
    ///
    /// `BadStateId`, `OldStateId`, `Expired`.
    pub fn close(
        &mut self,
        now: Duration,
        client: ClientId,
        stateid: StateId,
        key: &K,
    ) -> Result<(), StateError> {
        todo!()
    }

    /// Whether I/O by this stateid may run (RFC 8881 9.1.2, 8.2.3). Special stateids are judged here; [`StateId::CURRENT`] is to be replaced before.
    ///
    /// # Errors
    ///
    /// `BadStateId`, `OldStateId`, `OpenMode`, `Locked`, `Grace`, `Expired`.
    pub fn check_io(
        &mut self,
        now: Duration,
        client: ClientId,
        stateid: StateId,
        key: &K,
        io: IoKind,
    ) -> Result<IoPermit, StateError> {
        todo!()
    }

    /// Whether I/O of NFSv3, which has no stateids, may run.
    ///
    /// # Errors
    ///
    /// `Locked` if a deny mode forbids it (JUKEBOX or ACCES for NFSv3).
    pub fn check_anonymous(&mut self, now: Duration, key: &K, io: IoKind) -> Result<(), StateError> {
        todo!()
    }

    /// TEST_STATEID for one stateid (RFC 8881 18.48): `BadStateId` and `OldStateId` are results there, not errors.
    pub fn test_stateid(&self, client: ClientId, stateid: StateId) -> Result<(), StateError> {
        todo!()
    }

    /// FREE_STATEID (RFC 8881 18.38): of locks that were all let go.
    ///
    /// # Errors
    ///
    /// `LocksHeld`, `BadStateId`, `OldStateId`.
    pub fn free_stateid(
        &mut self,
        now: Duration,
        client: ClientId,
        stateid: StateId,
    ) -> Result<(), StateError> {
        todo!()
    }
}

/// Locks of NFSv4.
impl<K: Clone + Eq + Hash, S> NfsState<K, S> {
    /// LOCK (RFC 8881 18.10).
    ///
    /// # Errors
    ///
    /// `Denied`, `OpenMode`, `BadStateId`, `OldStateId`, `Grace`, `NoGrace`, `ReclaimBad`, `ReclaimConflict`, `NoSpace`, `Expired`.
    pub fn lock(&mut self, now: Duration, request: LockRequest<'_, K>) -> Result<LockAnswer<K>, StateError> {
        todo!()
    }

    /// LOCKT (RFC 8881 18.11): makes no state.
    ///
    /// # Errors
    ///
    /// `Denied`, `Grace`, `Expired`.
    pub fn test_lock(
        &mut self,
        now: Duration,
        client: ClientId,
        owner: &[u8],
        key: &K,
        kind: LockKind,
        range: ByteRange,
    ) -> Result<(), StateError> {
        todo!()
    }

    /// LOCKU (RFC 8881 18.12): of any bytes, also such that are not locked.
    ///
    /// # Errors
    ///
    /// `BadStateId`, `OldStateId`, `NoSpace` if it would split a lock beyond the bound, `Expired`.
    pub fn unlock(
        &mut self,
        now: Duration,
        client: ClientId,
        stateid: StateId,
        key: &K,
        range: ByteRange,
    ) -> Result<StateId, StateError> {
        todo!()
    }

    /// Takes a grant back: the kernel refused to mirror it, or an NLM host refused its GRANTED. The owner then holds of these bytes what it
    /// held before. Nothing happens if the owner has changed them since.
    pub fn refuse(&mut self, now: Duration, grant: &LockGrant<K>) {
        todo!()
    }
}

/// NLM.
impl<K: Clone + Eq + Hash, S> NfsState<K, S> {
    /// The number of an NLM host. `host` is what the server needs to know of it after a restart, and the same each time.
    ///
    /// # Errors
    ///
    /// `NoSpace`.
    pub fn nlm_host(&mut self, host: &[u8]) -> Result<HostId, StateError> {
        todo!()
    }

    /// LOCK of NLM. A repeated one is granted again. Its host is recorded before.
    ///
    /// # Errors
    ///
    /// `Denied`, `Grace`, `NoGrace`, `ReclaimBad`, `ReclaimConflict`, `NoSpace`.
    pub fn nlm_lock(
        &mut self,
        now: Duration,
        request: NlmLockRequest<'_, K>,
    ) -> Result<LockGrant<K>, StateError> {
        todo!()
    }

    /// TEST of NLM.
    ///
    /// # Errors
    ///
    /// `Denied`, `Grace`.
    pub fn nlm_test(
        &mut self,
        now: Duration,
        owner: &NlmOwner,
        key: &K,
        kind: LockKind,
        range: ByteRange,
    ) -> Result<(), StateError> {
        todo!()
    }

    /// CANCEL of NLM: whether such a lock waited.
    pub fn nlm_cancel(
        &mut self,
        now: Duration,
        owner: &NlmOwner,
        key: &K,
        kind: LockKind,
        range: ByteRange,
    ) -> bool {
        todo!()
    }

    /// UNLOCK of NLM: of any bytes.
    ///
    /// # Errors
    ///
    /// `NoSpace` if it would split a lock beyond the bound.
    pub fn nlm_unlock(
        &mut self,
        now: Duration,
        owner: &NlmOwner,
        key: &K,
        range: ByteRange,
    ) -> Result<(), StateError> {
        todo!()
    }

    /// SHARE of NLM: one share for each owner (host and `oh`) and file; a second replaces the first.
    ///
    /// # Errors
    ///
    /// `ShareDenied`, `Grace`, `NoGrace`, `ReclaimBad`, `ReclaimConflict`, `NoSpace`.
    pub fn nlm_share(
        &mut self,
        now: Duration,
        owner: &NlmOwner,
        key: &K,
        access: ShareAccess,
        deny: ShareDeny,
        is_reclaim: bool,
    ) -> Result<(), StateError> {
        todo!()
    }

    /// UNSHARE of NLM: nothing to take back is no error.
    pub fn nlm_unshare(&mut self, now: Duration, owner: &NlmOwner, key: &K) {
        todo!()
    }

    /// A host restarted (SM_NOTIFY), frees all (FREE_ALL), or an administrator takes all from it.
    pub fn release_host(&mut self, now: Duration, host: HostId) {
        todo!()
    }
}

/// Views.
impl<K: Clone + Eq + Hash, S> NfsState<K, S> {
    /// Clients of NFSv4.
    pub fn clients(&self, now: Duration) -> impl Iterator<Item = ClientView> + '_ {
        std::iter::empty()
    }

    /// NLM hosts, as they were named.
    pub fn hosts(&self) -> impl Iterator<Item = (HostId, &[u8])> + '_ {
        std::iter::empty()
    }

    /// Locks that are held.
    pub fn locks(&self) -> impl Iterator<Item = LockView<'_, K>> + '_ {
        std::iter::empty()
    }

    /// Locks that are waited for.
    pub fn waits(&self) -> impl Iterator<Item = WaitView<'_, K>> + '_ {
        std::iter::empty()
    }
}
