//! All state of NFSv4 and NLM: the parts, and what leaves them.

use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use crate::clients::ClientRegistry;
use crate::delegations::DelegationTable;
use crate::effects::{Effect, Effects, LockGrant};
use crate::files::LockWish;
use crate::holdings::Holdings;
use crate::hosts::Hosts;
use crate::ids::LockOwner;
use crate::memory::HeldMemory;
use crate::reclaims::Reclaims;
use crate::records::RecoveryRecords;
use crate::sessions::SessionTable;
use crate::settings::StateSettings;
use crate::states::{IoRights, StateTable};

/// All state of NFSv4 and NLM.
///
/// `now` is always the time since the start of the server by a clock that only goes forward, also while the host sleeps. Every call
/// may leave effects: [`Self::take_effects`].
#[derive(Debug)]
pub struct NfsState<K, S> {
    pub(super) settings: StateSettings,
    pub(super) clients: ClientRegistry,
    pub(super) sessions: Arc<SessionTable<S>>,
    pub(super) states: StateTable<K>,
    pub(super) files: Holdings<K>,
    pub(super) hosts: Hosts,
    pub(super) reclaims: Reclaims<K>,
    pub(super) memory: HeldMemory,
    /// Where a grant may have let go of something: waiters are served once it cannot be taken back any more.
    freed: Option<(Duration, K)>,
}

impl<K: Clone + Eq + Hash, S> NfsState<K, S> {
    /// The state at the start of the server. `records` is what the log of earlier runs comes to: if it names anybody, grace begins, else
    /// there is none. The first effects hold the record of this start; wait for it before the first call is answered.
    pub fn new(settings: StateSettings, records: RecoveryRecords) -> Self {
        Self {
            clients: ClientRegistry::new(settings.epoch, settings.seed, settings.lease),
            sessions: Arc::new(SessionTable::new(&settings)),
            states: StateTable::default(),
            files: Holdings::new(&settings),
            hosts: Hosts::default(),
            reclaims: Reclaims::new((settings.epoch, settings.grace), records),
            memory: HeldMemory::new(Duration::ZERO, settings.bounds.memory),
            freed: None,
            settings,
        }
    }

    /// What to do because of the calls since the last time. Take them before the lock on the state is let go, and queue them in
    /// this order.
    pub fn take_effects(&mut self) -> Effects<K> {
        if let Some((now, key)) = self.freed.take() {
            self.wake(now, &key);
        }
        self.reclaims.journal.take_effects()
    }

    /// The sessions, for SEQUENCE.
    pub fn sessions(&self) -> Arc<SessionTable<S>> {
        self.sessions.clone()
    }

    /// What stateids allow: I/O by one that allows it need not call [`Self::check_io`].
    pub fn rights(&self) -> Arc<IoRights<K>> {
        self.states.rights().clone()
    }

    /// What the log comes to once all effects are durable: to write it anew.
    pub fn records(&self) -> &RecoveryRecords {
        self.reclaims.records()
    }

    /// Whether only reclaims are granted. What else RFC 8881 forbids in grace (REMOVE, RENAME) is for the server to refuse.
    pub fn is_grace(&self) -> bool {
        self.reclaims.is_grace()
    }

    /// Whether nobody has any state.
    pub fn is_empty(&self) -> bool {
        self.clients.count() == 0 && self.hosts.iter().next().is_none()
    }

    /// What clients and hosts have of files.
    pub fn files(&self) -> &Holdings<K> {
        &self.files
    }

    /// Delegations, to say which files of directories recall them.
    pub fn delegations_mut(&mut self) -> &mut DelegationTable<K> {
        &mut self.files.delegations
    }

    /// NLM hosts.
    pub fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    /// Bytes of memory that clients and hosts hold, as of the last count and with what was granted since.
    pub fn held_memory(&self) -> usize {
        self.memory.all()
    }

    /// Grants a lock that may be granted.
    pub(super) fn grant(&mut self, now: Duration, wish: &LockWish<'_, K>) -> LockGrant<K> {
        self.freed = Some((now, wish.key.clone()));
        self.files.locks.grant(wish, self.reclaims.effects())
    }

    /// Takes a grant back: the kernel refused to mirror it, or the host refused its GRANTED. It is as if it had been denied: the owner
    /// holds of these bytes what it held before, and its stateid is the one before. Nothing happens if the owner has changed them since.
    /// Take a grant of LOCK back before the lock on the state is let go, or the client may see more of it. If it `waits`, since a local
    /// process is in the way, it waits again: set what that one holds before ([`Self::set_local`]).
    pub fn refuse(&mut self, now: Duration, grant: &LockGrant<K>, waits: bool) {
        if let Some(client) = grant.owner.client()
            && let Ok(states) = self.states.of_mut(client)
        {
            states.undo_change(grant.stateid);
        }
        self.freed = None;
        self.files.locks.take_back(now, grant, self.reclaims.effects());
        self.wake(now, &grant.key);
        if waits {
            let LockGrant { owner, key, range, kind, .. } = grant;
            self.files.locks.remember(&LockWish { key, owner, range: *range, kind: *kind }, now);
        }
    }

    /// Serves who waits for something of a file. In grace nobody is: what is free may be reclaimed. Its end serves them.
    pub(super) fn wake(&mut self, now: Duration, key: &K) {
        if self.reclaims.is_grace() {
            return;
        }
        let until = now + self.settings.turn;
        for grant in self.files.locks.wake(key, now, until, self.reclaims.effects()) {
            let LockOwner::Nlm(owner) = grant.owner.clone() else { continue };
            self.reclaims.granted_to_host(now, self.hosts.get(owner.host), false);
            self.reclaims.effects().push(Effect::Granted { owner, grant });
        }
    }
}
