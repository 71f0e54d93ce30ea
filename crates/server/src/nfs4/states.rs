//! Clients, sessions, opens and locks, behind one lock, and what is to be done outside because of them: the state itself is pure.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use howdah_state::{
    ClientView, DurableRecord, Effect, Effects, NfsState, Principal, RecoveryRecords, Serial, SessionTable,
    StateError, StateSettings,
};
use howdah_wire::nfs4::Status;
use parking_lot::Mutex;

use super::node::FileKey;
use super::record_file::RecordFile;
use super::session::SessionData;
use crate::exports::Identity;

/// The state as this server keeps it.
pub type State = NfsState<FileKey, SessionData>;

/// What the state needs to begin.
pub struct StateOptions {
    /// How long a client keeps what it has without a word from it.
    pub lease: Duration,
    /// What earlier runs left.
    pub records: RecoveryRecords,
    /// The number of this run, larger than those before.
    pub epoch: u32,
    /// Where records go.
    pub log: Box<dyn RecordLog>,
}

/// Where records go that must survive a restart.
pub trait RecordLog: Send + Sync {
    /// Takes a record. Records come in the order of their numbers.
    fn append(&self, serial: Serial, record: &DurableRecord);

    /// Waits until all records up to this one are durable.
    ///
    /// # Errors
    /// They cannot be: nothing that rests on them may be granted.
    fn wait(&self, serial: Serial) -> io::Result<()>;
}

/// The state, its clock and its log.
pub struct States {
    state: Mutex<State>,
    sessions: Arc<SessionTable<SessionData>>,
    log: Box<dyn RecordLog>,
    started: Instant,
    began: Duration,
    lease: Duration,
}

/// Remembers nothing: after a restart nobody reclaims.
struct NoLog;

impl RecordLog for NoLog {
    fn append(&self, _: Serial, _: &DurableRecord) {}

    fn wait(&self, _: Serial) -> io::Result<()> {
        Ok(())
    }
}

impl StateOptions {
    /// For a server that has no place to keep records: its clients lose opens and locks when it restarts.
    pub fn forgetful() -> Self {
        let epoch = since_1970().as_secs() as u32;
        let lease = howdah_state::limits::LEASE;
        Self { lease, records: RecoveryRecords::default(), epoch, log: Box::new(NoLog) }
    }
}

impl StateOptions {
    /// For a server that keeps records in this directory.
    ///
    /// # Errors
    /// They cannot be read or written.
    pub fn in_directory(directory: &Path) -> io::Result<Self> {
        let (file, records) = RecordFile::open(directory)?;
        let forgetful = Self::forgetful();
        // Also where the records were lost: ids of clients of earlier runs must not be taken for those of this one.
        let epoch = records.next_epoch().max(forgetful.epoch);
        Ok(Self { records, epoch, log: Box::new(file), ..forgetful })
    }

    /// The same with another lease.
    #[must_use]
    pub fn with_lease(self, lease: Duration) -> Self {
        Self { lease, ..self }
    }
}

impl States {
    /// The state of a server that starts now.
    pub fn new(options: StateOptions) -> Self {
        let StateOptions { lease, records, epoch, log } = options;
        let began = since_1970();
        let seed = howdah_random::spread(began.as_nanos() as u64 ^ u64::from(std::process::id()));
        let settings = StateSettings { lease, grace: lease, ..StateSettings::new(epoch, seed) };
        let state = NfsState::new(settings, records);
        let sessions = state.sessions();
        let states = Self { state: Mutex::new(state), sessions, log, started: Instant::now(), began, lease };
        // The record of the start.
        let effects = states.state.lock().take_effects();
        states.queue(&effects);
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
        self.queue(&effects);
        drop(state);
        if let Err(error) = self.log.wait(effects.durable) {
            tracing::error!(%error, "the record of clients cannot be written: no opens or locks are granted");
            return Err(StateError::Delay);
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

    fn queue(&self, effects: &Effects<FileKey>) {
        for effect in &effects.list {
            match effect {
                Effect::Persist { serial, record } => self.log.append(*serial, record),
                Effect::ClientEnded { owner, why, .. } => {
                    tracing::info!(client = %String::from_utf8_lossy(owner), ?why, "an NFSv4 client ended");
                }
                Effect::Mirror { .. }
                | Effect::Notify { .. }
                | Effect::Granted { .. }
                | Effect::Closed { .. }
                | Effect::HostEnded { .. } => {}
            }
        }
    }
}

/// Who sent a call, as the state tells clients apart: never by their addresses.
pub fn principal(identity: &Identity) -> Principal {
    let user = match identity {
        Identity::Unknown => [0; 5],
        Identity::User(caller) => {
            let [a, b, c, d] = caller.user.to_be_bytes();
            [1, a, b, c, d]
        }
    };
    Principal(Box::new(user))
}

/// The status of a refusal.
pub fn status(error: &StateError) -> Status {
    match error {
        StateError::BadSession => Status::BADSESSION,
        StateError::BadSlot => Status::BADSLOT,
        StateError::BadHighSlot => Status::BAD_HIGH_SLOT,
        StateError::SequenceMisordered => Status::SEQ_MISORDERED,
        StateError::SequenceFalseRetry => Status::SEQ_FALSE_RETRY,
        StateError::StaleClientId => Status::STALE_CLIENTID,
        StateError::ClientIdBusy => Status::CLIENTID_BUSY,
        StateError::ClientIdInUse => Status::CLID_INUSE,
        StateError::NotSame => Status::NOT_SAME,
        StateError::Permission => Status::PERM,
        StateError::NoEntry => Status::NOENT,
        StateError::Delay => Status::DELAY,
        StateError::NoSpace => Status::NOSPC,
        StateError::Grace => Status::GRACE,
        StateError::NoGrace => Status::NO_GRACE,
        StateError::ReclaimBad => Status::RECLAIM_BAD,
        StateError::ReclaimConflict => Status::RECLAIM_CONFLICT,
        StateError::CompleteAlready => Status::COMPLETE_ALREADY,
        StateError::BadStateId => Status::BAD_STATEID,
        StateError::OldStateId => Status::OLD_STATEID,
        StateError::Expired => Status::EXPIRED,
        StateError::ShareDenied => Status::SHARE_DENIED,
        StateError::Locked => Status::LOCKED,
        StateError::OpenMode => Status::OPENMODE,
        StateError::LocksHeld => Status::LOCKS_HELD,
        StateError::Denied(_) => Status::DENIED,
        StateError::Invalid => Status::INVAL,
    }
}

fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
