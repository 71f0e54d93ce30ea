//! Clients, sessions, opens and locks, behind one lock, and what is to be done outside because of them: the state itself is pure.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use crate::locks::Mutex;
use howdah_state::{
    ByteRange, ClientId, ClientView, DurableRecord, Effect, IoKind, IoPermit, IoRights, NfsState, OpenId,
    Serial, SessionTable, StateBounds, StateError, StateId, StateSettings,
};
use howdah_vfs::KeptOpen;
use howdah_wire::nfs4::Status;

use super::caller::name_of_client;
use super::client_news::ClientNews;
use super::file_changes::FileChanges;
use super::file_key::FileKey;
use super::host_mirror::HostMirror;
use super::lock_hosts::{LockHost, LockHosts};
use super::lock_news::{GrantTicket, LockNews};
use super::log_trouble::LogTrouble;
use super::options::{StateOptions, since_1970};
use super::record_log::RecordLog;
use super::serving_head::ServingHead;
use super::session_data::SessionData;
use super::status::status;
use crate::exports::Exported;

/// The state as this server keeps it.
pub type State = NfsState<FileKey, SessionData>;

/// The state, its clock and its log.
pub struct States {
    state: Mutex<State>,
    sessions: Arc<SessionTable<SessionData>>,
    /// What stateids allow.
    rights: Arc<IoRights<FileKey>>,
    /// Deny modes outstanding.
    restrictions: Arc<AtomicUsize>,
    /// What keeps the files of opens.
    kept: Mutex<HashMap<OpenId, KeptOpen>>,
    changes: FileChanges,
    log: Box<dyn RecordLog>,
    log_trouble: LogTrouble,
    started: Instant,
    lease: Duration,
    host_number: u32,
    hosts: LockHosts,
    pub(super) lock_news: OnceLock<Arc<dyn LockNews>>,
    /// It has the state, which must not keep it.
    client_news: OnceLock<Weak<dyn ClientNews>>,
    /// What processes of this host see of locks, and lock themselves.
    pub(super) mirror: Option<HostMirror>,
    cluster: Option<ServingHead>,
    /// Bytes that clients held at most since memory was given back.
    most_held: AtomicUsize,
}

/// Memory is given back to the system once clients have let go of so many bytes.
const GIVEN_BACK: usize = 32 << 20;
/// What is to be done outside once the state has answered.
#[derive(Debug, Default)]
pub(super) struct Done {
    /// Grants that may be told.
    pub granted: Vec<GrantTicket>,
    /// Bytes of files of which NFS owners hold something else than before.
    pub changed: Vec<(FileKey, ByteRange)>,
    /// Lock owners of clients that may try again for a lock of a file.
    pub free: Vec<(ClientId, Box<[u8]>, FileKey)>,
    /// Delegations of clients that are asked for back.
    pub recalled: Vec<(ClientId, StateId, FileKey)>,
    /// Delegations that were revoked.
    pub revoked: Vec<(ClientId, FileKey)>,
    /// Clients that ended.
    pub ended: Vec<ClientId>,
    /// What kept files that were closed. It may take long to let go of a large file, and not under the lock.
    pub closed: Vec<KeptOpen>,
}

impl States {
    /// The state of a server that starts now.
    pub fn new(options: StateOptions) -> Self {
        let StateOptions { lease, records, epoch, host_number, log, cluster, memory } = options;
        // From the system's source of random numbers.
        let seed = RandomState::new().hash_one(since_1970());
        let bounds = StateBounds { memory, ..StateBounds::default() };
        let settings = StateSettings { lease, grace: lease, bounds, ..StateSettings::new(epoch, seed) };
        let state = NfsState::new(settings, records);
        let (sessions, rights, restrictions) =
            (state.sessions(), state.rights(), state.files().shares.restrictions());
        let changes = FileChanges::new(state.files().delegations.watch(), state.is_grace());
        let states = Self {
            state: Mutex::new(state),
            sessions,
            rights,
            restrictions,
            kept: Mutex::default(),
            changes,
            log_trouble: LogTrouble::at_start(&log.look()),
            log,
            started: Instant::now(),
            lease,
            host_number,
            hosts: LockHosts::default(),
            lock_news: OnceLock::new(),
            client_news: OnceLock::new(),
            mirror: None,
            cluster,
            most_held: AtomicUsize::new(0),
        };
        // The record of the start.
        let effects = states.state.lock().take_effects();
        states.queue(effects.list);
        states
    }

    /// The same, with locks shown to processes of this host, and theirs held against NFS clients.
    #[must_use]
    pub fn with_host_locks(self, exported: Arc<Exported>) -> Self {
        Self { mirror: Some(HostMirror::new(exported)), ..self }
    }

    /// The time since the start.
    pub fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// How long a client keeps what it has without a word from it.
    pub fn lease(&self) -> Duration {
        self.lease
    }

    /// This head, if the server is one of a cluster that shares its records with others.
    pub fn cluster(&self) -> Option<&ServingHead> {
        self.cluster.as_ref()
    }

    /// The state number of this host's status monitor in this run.
    pub fn host_number(&self) -> u32 {
        self.host_number
    }

    /// Hosts that lock files by NLM.
    pub fn hosts(&self) -> &LockHosts {
        &self.hosts
    }

    /// Hosts that had locks in earlier runs, and are to be told that this one began.
    pub fn hosts_to_notify(&self) -> Vec<LockHost> {
        self.state.lock().records().earlier_hosts().filter_map(LockHost::parse).collect()
    }

    /// From now on this one is told of locks that hosts waited for. Only the first one is.
    pub fn set_lock_news(&self, news: Arc<dyn LockNews>) {
        let _ = self.lock_news.set(news);
    }

    /// From now on this one calls clients back. Only the first one does.
    pub fn set_client_news(&self, news: &Arc<dyn ClientNews>) {
        let _ = self.client_news.set(Arc::downgrade(news));
    }

    /// Changes of files that clients may have delegations of.
    pub(super) fn changes(&self) -> &FileChanges {
        &self.changes
    }

    /// Who calls clients back.
    pub(super) fn client_news(&self) -> Option<Arc<dyn ClientNews>> {
        self.client_news.get()?.upgrade()
    }

    /// The sessions.
    pub fn sessions(&self) -> &SessionTable<SessionData> {
        &self.sessions
    }

    /// Asks the state, and does what follows from the answer before it is given.
    ///
    /// # Errors
    /// Why the state refuses.
    pub fn ask<T>(
        &self,
        call: impl FnOnce(&mut State, Duration) -> Result<T, StateError>,
    ) -> Result<T, StateError> {
        let (answer, done) = self.run(call);
        self.settle(done);
        answer
    }

    /// Asks the state, and waits until what the answer rests on is durable. What is to be done outside is left to the caller.
    pub(super) fn run<T>(
        &self,
        call: impl FnOnce(&mut State, Duration) -> Result<T, StateError>,
    ) -> (Result<T, StateError>, Done) {
        let mut state = self.state.lock();
        let answer = call(&mut state, self.now());
        let effects = state.take_effects();
        if effects.list.is_empty() && effects.durable == Serial(0) {
            return (answer, Done::default());
        }
        let done = self.queue(effects.list);
        drop(state);
        if let Err(error) = self.log.wait(effects.durable, effects.own) {
            self.log_trouble.refuse(&error);
            return (Err(StateError::Delay), Done { granted: Vec::new(), free: Vec::new(), ..done });
        }
        (answer, done)
    }

    /// Keeps the file of an open until that ends. For who has the lock on the state.
    pub fn keep(&self, open: OpenId, file: KeptOpen) {
        self.kept.lock().insert(open, file);
    }

    /// Changes the state, where nothing is to be done outside because of it.
    pub(super) fn look_and_change<T>(&self, at: impl FnOnce(&mut State) -> T) -> T {
        at(&mut self.state.lock())
    }

    /// Looks at the state, and changes nothing.
    pub fn look<T>(&self, at: impl FnOnce(&State) -> T) -> T {
        at(&self.state.lock())
    }

    /// The same, with the refusal as a status.
    ///
    /// # Errors
    /// Why the state refuses.
    pub fn judge<T>(
        &self,
        call: impl FnOnce(&mut State, Duration) -> Result<T, StateError>,
    ) -> Result<T, Status> {
        self.ask(call).map_err(|error| status(&error))
    }

    /// Whether I/O of NFSv3 on a file may run: the open of an NFSv4 client may deny it to all others. While there is no such
    /// open, that costs one load.
    #[inline]
    pub fn permits(&self, file: impl FnOnce() -> FileKey, kind: IoKind) -> bool {
        self.restrictions.load(Ordering::Relaxed) == 0
            || self.ask(|state, now| state.check_anonymous(now, &file(), kind)).is_ok()
    }

    /// Whether I/O of a client of NFSv4 on a file may run by a stateid. Where something may stand in its way, and for a special
    /// stateid, the state is asked: what such I/O rests on, as the end of a client whose lease passed, must be durable before it runs.
    ///
    /// # Errors
    /// The stateid is none of this file, or its open was not for this, or a deny mode forbids it.
    pub fn check_io(
        &self,
        client: ClientId,
        stateid: StateId,
        file: &FileKey,
        kind: IoKind,
    ) -> Result<IoPermit, Status> {
        let permit =
            (!stateid.is_special()).then(|| self.rights.permit(client, stateid, file, kind)).flatten();
        let ask = || self.judge(|state, now| state.check_io(now, client, stateid, file, kind));
        permit.map_or_else(ask, Ok)
    }

    /// Whether any open or delegation may keep others from reading or writing.
    pub fn is_restricted(&self) -> bool {
        self.restrictions.load(Ordering::Relaxed) != 0
    }

    /// Lets time pass: leases end, waiters get their turn.
    pub fn tick(&self) {
        let held = self.ask(|state, now| {
            state.expire(now);
            Ok(state.held_memory())
        });
        // The allocator keeps memory that clients have let go. What was much goes back to the system.
        if let Ok(held) = held
            && held.saturating_add(GIVEN_BACK) < self.most_held.fetch_max(held, Ordering::Relaxed)
        {
            self.most_held.store(held, Ordering::Relaxed);
            howdah_net::give_memory_back();
        }
        self.look_at_host();
        self.log_trouble.look(&self.log.look());
    }

    /// Whether time changes nothing: no client has state, none may reclaim some, and no record waits to be written.
    pub fn is_at_rest(&self) -> bool {
        let is_empty = self.look(|state| !state.is_grace() && state.is_empty());
        is_empty && self.unwritable().is_none() && self.cluster.is_none()
    }

    /// Why records of clients cannot be written, if they cannot: those who are not recorded wait.
    pub fn unwritable(&self) -> Option<String> {
        self.log_trouble.why()
    }

    /// Whether clients of an earlier run may still reclaim what they had.
    pub fn is_grace(&self) -> bool {
        self.state.lock().is_grace()
    }

    /// Who has what.
    pub fn clients(&self) -> Vec<ClientView> {
        self.state.lock().clients(self.now()).collect()
    }

    /// Does what is to be done in the order of the state's own changes. What is to be done outside.
    fn queue(&self, effects: Vec<Effect<FileKey>>) -> Done {
        let (news, mut done) = (self.lock_news.get(), Done::default());
        for effect in effects {
            match effect {
                Effect::Persist { serial, record } => {
                    match record {
                        DurableRecord::EndGrace => self.changes.set_grace(false),
                        DurableRecord::TakeClient { .. } | DurableRecord::TakeHost { .. } => {
                            self.changes.set_grace(true);
                        }
                        _ => {}
                    }
                    self.log.append(serial, &record);
                }
                Effect::ClientEnded { client, owner, why } => {
                    tracing::info!(client = %String::from_utf8_lossy(name_of_client(&owner)), ?why, "an NFSv4 client ended");
                    done.ended.push(client);
                }
                Effect::Granted { owner, grant } => {
                    done.granted.extend(news.map(|news| news.note(owner, grant)));
                }
                Effect::HostEnded { host } => {
                    self.hosts.remove(host);
                    if let Some(news) = news {
                        news.forget(host);
                    }
                }
                Effect::Mirror { key, range } => done.changed.push((key, range)),
                Effect::Notify { client, owner, key } => done.free.push((client, owner, key)),
                Effect::Recall { client, stateid, key } => done.recalled.push((client, stateid, key)),
                Effect::Revoked { client, key } => {
                    done.revoked.push((client, key));
                    tracing::warn!(
                        client = client.0,
                        "an NFSv4 client did not give a delegation back in time: it was revoked"
                    );
                }
                Effect::Closed { open, .. } => done.closed.extend(self.kept.lock().remove(&open)),
            }
        }
        done
    }
}
