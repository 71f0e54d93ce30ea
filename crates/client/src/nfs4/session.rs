//! The session of a client: made again when the server has lost it, renewed while nothing else is called, and ended.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use howdah_session::{ClientSession, UPKEEP_STAMP};
use howdah_vfs::{FsError, Result};
use howdah_wire::nfs4::create_session::ChannelSizes;
use howdah_wire::nfs4::{
    COMPOUND, ClientId, PROGRAM, SessionId, Status, VERSION, destroy_clientid, destroy_session,
    reclaim_complete,
};
use parking_lot::Mutex;

use super::client_name::{ClientName, Identified, StepError};
use super::compound::{Alone, Compound, InSession};
use super::operation::Operation;
use super::results::{Results, Stopped};
use crate::channel::{Channel, Class, Request};
use crate::common::{Jukebox, failure};
use crate::waiting::wait_at_most;

/// How long each call that ends a session may take. A far server answers later: the call has been sent, and nobody waits.
const LINGER: Duration = Duration::from_millis(20);
/// A client that calls nothing renews its lease this often within it.
const RENEWALS: u32 = 3;

/// Which of the sessions that a client has one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SessionEpoch(u64);

/// The session of a client.
pub(super) struct Session {
    shared: Arc<Shared>,
    channel: Arc<Channel>,
    /// Ends the thread that renews the lease, when it is dropped.
    _renewal: Option<Sender<()>>,
}

/// What the thread that renews the lease has, too.
struct Shared {
    name: ClientName,
    minor_version: u32,
    sizes: ChannelSizes,
    epoch: AtomicU64,
    current: Mutex<Current>,
}

/// What the server gave.
struct Current {
    client: ClientId,
    session: SessionId,
    /// The number of the next CREATE_SESSION.
    sequence: u32,
}

impl Session {
    /// Makes the first session of a client that the server knows.
    pub(super) fn make(
        channel: Arc<Channel>,
        name: ClientName,
        known: Identified,
        patience: Duration,
    ) -> std::result::Result<Self, StepError> {
        let made = name.create_session(&channel, &known, Some(patience))?;
        let slots = made.fore.slots;
        channel.with_session(|session: &mut ClientSession, _| {
            session.begin(made.session.0, slots);
            session.set_open(true);
        });
        tracing::debug!(minor = known.minor_version, slots, sizes = ?made.fore, "there is a session");
        let current =
            Current { client: known.client, session: made.session, sequence: known.sequence.wrapping_add(1) };
        let shared = Shared {
            name,
            minor_version: known.minor_version,
            sizes: made.fore,
            epoch: AtomicU64::new(0),
            current: Mutex::new(current),
        };
        Ok(Self { shared: Arc::new(shared), channel, _renewal: None })
    }

    /// Renews the lease from now on, while nothing else is called.
    pub(super) fn renew(&mut self, lease: Duration) {
        let (sender, end) = mpsc::channel::<()>();
        let (shared, channel) = (Arc::clone(&self.shared), Arc::downgrade(&self.channel));
        let begun = thread::Builder::new().name("lease".to_owned()).spawn(move || {
            let mut calls = 0;
            while end.recv_timeout(lease / RENEWALS) == Err(RecvTimeoutError::Timeout) {
                let Some(channel) = Weak::upgrade(&channel) else { return };
                if compounds(&channel) == calls {
                    shared.renew(&channel);
                }
                calls = compounds(&channel);
            }
        });
        match begun {
            Ok(_) => self._renewal = Some(sender),
            Err(error) => tracing::warn!(%error, "the lease of an idle client is not renewed"),
        }
    }

    /// The minor version of all compounds.
    pub(super) fn minor_version(&self) -> u32 {
        self.shared.minor_version
    }

    /// What the server granted.
    pub(super) fn sizes(&self) -> ChannelSizes {
        self.shared.sizes
    }

    /// Which session it is now.
    pub(super) fn epoch(&self) -> SessionEpoch {
        self.shared.epoch()
    }

    /// The server refused a call in this session: makes another one if that is over. Says which it is then.
    pub(super) fn recover(&self, seen: SessionEpoch) -> Result<SessionEpoch> {
        self.shared.recover(&self.channel, seen)
    }
}

impl Shared {
    fn epoch(&self) -> SessionEpoch {
        SessionEpoch(self.epoch.load(Ordering::Acquire))
    }

    fn renew(&self, channel: &Channel) {
        let epoch = self.epoch();
        let renewed = self.upkeep(channel, &[]).and_then(|alive| match alive {
            true => Ok(()),
            false => self.recover(channel, epoch).map(drop),
        });
        if let Err(error) = renewed {
            tracing::debug!(%error, "renewing the lease");
        }
    }

    fn recover(&self, channel: &Channel, seen: SessionEpoch) -> Result<SessionEpoch> {
        let mut current = self.current.lock();
        if self.epoch() != seen || self.upkeep(channel, &[])? {
            return Ok(self.epoch());
        }
        set_open(channel, false);
        let made = self.make_again(channel, &mut current);
        // Without a session the next call is refused as this one was, and its caller tries again.
        set_open(channel, true);
        made?;
        self.epoch.fetch_add(1, Ordering::Release);
        tracing::info!("the server has lost the session: there is another one");
        Ok(self.epoch())
    }

    fn make_again(&self, channel: &Channel, current: &mut Current) -> Result<()> {
        let mut jukebox = Jukebox::new(None);
        let (mut is_new, mut tries) = (false, 0);
        let made = loop {
            let minor_version = self.minor_version;
            let known = Identified { minor_version, client: current.client, sequence: current.sequence };
            match self.name.create_session(channel, &known, None) {
                Ok(made) => break made,
                Err(StepError::Refused(Status::DELAY)) => jukebox.wait()?,
                // The server knows the client no more.
                Err(StepError::Refused(_)) if tries < 2 => {
                    tries += 1;
                    let known = self.name.exchange_id(channel, minor_version, None);
                    let known = known.map_err(|error| refused("EXCHANGE_ID", &error))?;
                    is_new = true;
                    (current.client, current.sequence) = (known.client, known.sequence);
                }
                Err(error) => return Err(refused("CREATE_SESSION", &error)),
            }
        };
        current.sequence = current.sequence.wrapping_add(1);
        current.session = made.session;
        channel.with_session(|session: &mut ClientSession, _| {
            session.begin(made.session.0, made.fore.slots.min(self.sizes.slots));
        });
        if is_new && !self.upkeep(channel, &[Operation::ReclaimComplete])? {
            return Err(FsError::Io);
        }
        Ok(())
    }

    /// A call for the upkeep of the session. Whether the server knows it.
    fn upkeep(&self, channel: &Channel, operations: &[Operation<'_>]) -> Result<bool> {
        let compound = Compound::new("SEQUENCE", Class::Attributes, operations);
        let arguments = InSession { minor_version: self.minor_version, compound: &compound };
        let request = Request { arguments: &arguments, stamp: Some(UPKEEP_STAMP), ..self.name.request() };
        let answer = channel.call(request).map_err(|error| failure(compound.name, &error))?;
        let results = Results { name: compound.name, bytes: answer.results, repeated: false };
        let mut reader = match results.read() {
            Ok(reader) => reader,
            Err(Stopped::Refused(_, status)) => {
                tracing::debug!(%status, "the session is over");
                return Ok(false);
            }
            Err(Stopped::Malformed) => return Err(FsError::ServerFault),
        };
        if operations.is_empty() {
            return Ok(true);
        }
        match reader.skip(reclaim_complete::OPERATION) {
            Ok(()) | Err(Stopped::Refused(_, Status::COMPLETE_ALREADY)) => Ok(true),
            Err(stopped) => Err(stopped.into()),
        }
    }
}

fn refused(step: &'static str, error: &StepError) -> FsError {
    match error {
        StepError::Call(error) => failure(step, error),
        StepError::Refused(status) => {
            tracing::warn!(step, %status, "the server gives no session");
            FsError::Io
        }
        StepError::Silent(_) => FsError::TimedOut,
        StepError::Malformed => FsError::ServerFault,
    }
}

fn set_open(channel: &Channel, is_open: bool) {
    channel.with_session(|session: &mut ClientSession, _| {
        session.set_open(is_open);
        while session.poll_trouble().is_some() {}
    });
}

/// How many compounds were called.
fn compounds(channel: &Channel) -> u64 {
    let all = channel.report().procedures;
    let compounds =
        all.iter().filter(|one| (one.program, one.version, one.procedure) == (PROGRAM, VERSION, COMPOUND));
    compounds.map(|one| one.calls).sum()
}

/// The server need not wait until the lease is over.
impl Drop for Session {
    fn drop(&mut self) {
        let current = self.shared.current.lock();
        let minor_version = self.shared.minor_version;
        let session = Alone {
            minor_version,
            operation: destroy_session::OPERATION,
            arguments: &destroy_session::Arguments { session: current.session },
        };
        let client = Alone {
            minor_version,
            operation: destroy_clientid::OPERATION,
            arguments: &destroy_clientid::Arguments { client: current.client },
        };
        let end = |arguments| {
            let ended = self.channel.start(Request { arguments, ..self.shared.name.request() });
            wait_at_most(ended, LINGER).is_some()
        };
        if !(end(&session) && end(&client)) {
            tracing::debug!("the server did not say in time that it knows the session to be over");
        }
    }
}
