//! All state of NFSv4 and NLM: the parts, and what leaves them.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use crate::clients::ClientRegistry;
use crate::delegations::DelegationTable;
use crate::effects::{DurableRecord, Effect, Effects};
use crate::files::FileTable;
use crate::grace::Grace;
use crate::hosts::Hosts;
use crate::ids::ClientId;
use crate::journal::Journal;
use crate::memory::HeldMemory;
use crate::records::RecoveryRecords;
use crate::sessions::{ReplyBudget, SessionTable};
use crate::settings::StateSettings;
use crate::states::{ClientStates, IoRights};

/// All state of NFSv4 and NLM.
///
/// `now` is always the time since the start of the server by a clock that only goes forward, also while the host sleeps. Every call
/// may leave effects: [`Self::take_effects`].
#[derive(Debug)]
pub struct NfsState<K, S> {
    pub(super) settings: StateSettings,
    pub(super) clients: ClientRegistry,
    pub(super) sessions: Arc<SessionTable<S>>,
    pub(super) sessions_made: u64,
    pub(super) budget: Arc<ReplyBudget>,
    pub(super) memory: HeldMemory,
    pub(super) states: HashMap<ClientId, ClientStates<K>>,
    pub(super) rights: Arc<IoRights<K>>,
    pub(super) files: FileTable<K>,
    pub(super) delegations: DelegationTable<K>,
    pub(super) hosts: Hosts,
    pub(super) grace: Grace,
    pub(super) journal: Journal,
    pub(super) effects: Vec<Effect<K>>,
    /// Where a grant may have let go of something: waiters are served once it cannot be taken back any more.
    pub(super) freed: Option<(Duration, K)>,
}

impl<K: Clone + Eq + Hash, S> NfsState<K, S> {
    /// The state at the start of the server. `records` is what the log of earlier runs comes to: if it names anybody, grace begins, else
    /// there is none. The first effects hold the record of this start; wait for it before the first call is answered.
    pub fn new(settings: StateSettings, records: RecoveryRecords) -> Self {
        let (mut journal, mut effects) = (Journal::new(records), Vec::new());
        journal.write(DurableRecord::Start { epoch: settings.epoch }, &mut effects);
        journal.rest_on_all();
        Self {
            clients: ClientRegistry::new(settings.epoch, settings.seed),
            sessions: Arc::default(),
            sessions_made: 0,
            budget: Arc::new(ReplyBudget::new(
                settings.bounds.cached_bytes,
                settings.bounds.cached_bytes_of_client,
            )),
            memory: HeldMemory::default(),
            states: HashMap::new(),
            rights: Arc::default(),
            files: FileTable::default(),
            delegations: DelegationTable::new(settings.rest, settings.bounds.delegated_children),
            hosts: Hosts::default(),
            grace: Grace::new(settings.grace, journal.records()),
            journal,
            effects,
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
        let (durable, own) = self.journal.take_need();
        Effects { list: std::mem::take(&mut self.effects), durable, own }
    }

    /// What it was started with.
    pub fn settings(&self) -> &StateSettings {
        &self.settings
    }

    /// The sessions, for SEQUENCE.
    pub fn sessions(&self) -> Arc<SessionTable<S>> {
        self.sessions.clone()
    }

    /// What stateids allow: I/O by one that allows it need not call [`Self::check_io`].
    pub fn rights(&self) -> Arc<IoRights<K>> {
        self.rights.clone()
    }

    /// Deny modes of opens: while there are none, NFSv3 need not call [`Self::check_anonymous`]. Relaxed loads will do.
    pub fn restrictions(&self) -> Arc<AtomicUsize> {
        self.files.restrictions()
    }

    /// What the log comes to once all effects are durable: to write it anew.
    pub fn records(&self) -> &RecoveryRecords {
        self.journal.records()
    }

    /// NLM hosts of earlier runs that are to get a notice of the restart (SM_NOTIFY), as they were named.
    pub fn hosts_to_notify(&self) -> Vec<Box<[u8]>> {
        self.journal.records().earlier_hosts().map(Box::from).collect()
    }

    /// Whether only reclaims are granted. What else RFC 8881 forbids in grace (REMOVE, RENAME) is for the server to refuse.
    pub fn is_grace(&self) -> bool {
        self.grace.is_on()
    }

    /// Bytes of replies that are kept for retries, of all sessions.
    pub fn cached_bytes(&self) -> usize {
        self.budget.kept()
    }

    /// Files of which somebody has something.
    pub fn count_files(&self) -> usize {
        self.files.keys().chain(self.delegations.keys()).collect::<HashSet<_>>().len()
    }

    /// Read delegations that clients have.
    pub fn delegations(&self) -> &DelegationTable<K> {
        &self.delegations
    }

    /// The same, to say which files of directories recall them.
    pub fn delegations_mut(&mut self) -> &mut DelegationTable<K> {
        &mut self.delegations
    }
}
