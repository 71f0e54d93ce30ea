//! Clients, sessions, opens and locks, behind one lock, and what is to be done outside because of them: the state itself is pure.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use howdah_state::{ClientView, Effect, IoKind, NfsState, Serial, SessionTable, StateError, StateSettings};
use howdah_wire::nfs4::Status;
use parking_lot::Mutex;

use super::file_key::FileKey;
use super::lock_hosts::{LockHost, LockHosts};
use super::lock_news::{GrantTicket, LockNews};
use super::options::{StateOptions, since_1970};
use super::record_log::RecordLog;
use super::session_data::SessionData;
use super::status::status;

/// The state as this server keeps it.
pub type State = NfsState<FileKey, SessionData>;

/// The state, its clock and its log.
pub struct States {
    state: Mutex<State>,
    sessions: Arc<SessionTable<SessionData>>,
    /// Deny modes outstanding.
    restrictions: Arc<AtomicUsize>,
    log: Box<dyn RecordLog>,
    started: Instant,
    began: Duration,
    lease: Duration,
    host_number: u32,
    hosts: LockHosts,
    lock_news: OnceLock<Arc<dyn LockNews>>,
}

impl States {
    /// The state of a server that starts now.
    pub fn new(options: StateOptions) -> Self {
        let StateOptions { lease, records, epoch, host_number, log } = options;
        let began = since_1970();
        let seed = howdah_random::spread(began.as_nanos() as u64 ^ u64::from(std::process::id()));
        let settings = StateSettings { lease, grace: lease, ..StateSettings::new(epoch, seed) };
        let state = NfsState::new(settings, records);
        let (sessions, restrictions) = (state.sessions(), state.restrictions());
        let states = Self {
            state: Mutex::new(state),
            sessions,
            restrictions,
            log,
            started: Instant::now(),
            began,
            lease,
            host_number,
            hosts: LockHosts::default(),
            lock_news: OnceLock::new(),
        };
        // The record of the start.
        let effects = states.state.lock().take_effects();
        states.queue(effects.list);
        states
    }

    /// The time since the start.
    pub fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// When the server began, since 1970.
    pub fn began(&self) -> Duration {
        self.began
    }

    /// How long a client keeps what it has without a word from it.
    pub fn lease(&self) -> Duration {
        self.lease
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
        self.state.lock().hosts_to_notify().iter().filter_map(|host| LockHost::parse(host)).collect()
    }

    /// From now on this one is told of locks that hosts waited for. Only the first one is.
    pub fn set_lock_news(&self, news: Arc<dyn LockNews>) {
        let _ = self.lock_news.set(news);
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
        let mut state = self.state.lock();
        let answer = call(&mut state, self.now());
        let effects = state.take_effects();
        if effects.list.is_empty() && effects.durable == Serial(0) {
            return answer;
        }
        let granted = self.queue(effects.list);
        drop(state);
        if let Err(error) = self.log.wait(effects.durable) {
            tracing::error!(%error, "the record of clients cannot be written: no opens or locks are granted");
            return Err(StateError::Delay);
        }
        if let Some(news) = self.lock_news.get() {
            granted.into_iter().for_each(|ticket| news.tell(ticket));
        }
        answer
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

    /// Lets time pass: leases end, waiters get their turn.
    pub fn tick(&self) {
        let _ = self.ask(|state, now| {
            state.expire(now);
            Ok(())
        });
    }

    /// Whether clients of an earlier run may still reclaim what they had.
    pub fn is_grace(&self) -> bool {
        self.state.lock().is_grace()
    }

    /// Who has what.
    pub fn clients(&self) -> Vec<ClientView> {
        self.state.lock().clients(self.now()).collect()
    }

    /// Does what is to be done in the order of the state's own changes. Grants that may be told once all is durable.
    fn queue(&self, effects: Vec<Effect<FileKey>>) -> Vec<GrantTicket> {
        let (news, mut granted) = (self.lock_news.get(), Vec::new());
        for effect in effects {
            match effect {
                Effect::Persist { serial, record } => self.log.append(serial, &record),
                Effect::ClientEnded { owner, why, .. } => {
                    tracing::info!(client = %String::from_utf8_lossy(&owner), ?why, "an NFSv4 client ended");
                }
                Effect::Granted { owner, grant } => granted.extend(news.map(|news| news.note(owner, grant))),
                Effect::HostEnded { host } => {
                    self.hosts.remove(host);
                    if let Some(news) = news {
                        news.forget(host);
                    }
                }
                Effect::Mirror { .. } | Effect::Notify { .. } | Effect::Closed { .. } => {}
            }
        }
        granted
    }
}
