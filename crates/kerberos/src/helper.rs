//! The helpers of a process. Each serves one request at a time; callers wait for a free one.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use howdah_gss::{InitialToken, LucidContext};

use crate::error::HelperError;
use crate::message::{Reply, Request, TEXT_MAX, TOKEN_MAX};
use crate::process::{ROLE, SUPERVISOR};
use crate::settings::HelperSettings;
use crate::socket::{drain, is_late, next_message_by, pair, send_message};
use crate::worker::time_of;

/// How long a caller waits for a free helper.
const PATIENCE: Duration = Duration::from_secs(10);
/// What an answer may take beyond the worker's own time: it dies, and its supervisor says so.
const GRACE: Duration = Duration::from_secs(2);
/// How often a request is sent at most: once more after the worker died of another one.
const ATTEMPTS: usize = 3;

/// A context with a client, as its server has it.
#[derive(Debug)]
pub struct AcceptedContext {
    /// The token for the client.
    pub reply: Vec<u8>,
    /// The client's principal, with its realm: `alice@EXAMPLE.ORG`.
    pub client: String,
    /// The service that the client asked for, one of the keytab: `nfs/server.example.org@EXAMPLE.ORG`.
    pub service: String,
    /// Its key.
    pub lucid: LucidContext,
}

/// A context with a server, as its client has it.
#[derive(Debug)]
pub struct InitiatedContext {
    /// The own principal.
    pub client: String,
    /// The server's principal.
    pub service: String,
    /// Its key.
    pub lucid: LucidContext,
}

/// Helpers that are asked one after the other. Threads share it.
#[derive(Debug)]
pub struct Helper {
    members: Mutex<Members>,
    released: Condvar,
}

#[derive(Debug)]
struct Members {
    free: Vec<Member>,
    /// How many there are, with those that are busy.
    alive: usize,
}

/// One helper: its supervisor, and this process's end of the socket.
#[derive(Debug)]
struct Member {
    /// Closed before its supervisor is waited for.
    socket: Option<OwnedFd>,
    supervisor: Child,
    last_number: u64,
    /// Its supervisor has ended, and its worker: nobody reads what is sent.
    has_ended: bool,
}

/// A member, for as long as one caller needs it.
#[derive(Debug)]
struct Borrowed<'h> {
    helper: &'h Helper,
    member: Option<Member>,
}

/// A context that a client has begun. Its helper is busy with it until it is finished or dropped.
#[derive(Debug)]
pub struct Initiation<'h> {
    member: Borrowed<'h>,
    token: Vec<u8>,
}

impl Helper {
    /// Starts so many helpers, and waits until they have loaded the library.
    ///
    /// # Errors
    /// A process cannot be started, or there is no library.
    pub fn start(settings: &HelperSettings, count: usize) -> Result<Self, HelperError> {
        let mut members =
            (0..count.max(1)).map(|_| Member::start(settings)).collect::<Result<Vec<_>, _>>()?;
        for member in &mut members {
            match member.ask(&Request::Hello)? {
                Reply::Ready => {}
                other => return Err(unexpected(other)),
            }
        }
        let members = Members { alive: members.len(), free: members };
        Ok(Self { members: Mutex::new(members), released: Condvar::new() })
    }

    /// The context of a client, by the first token that it sent (`GSS_Accept_sec_context`).
    ///
    /// # Errors
    /// The token is refused, or there is nobody to ask.
    pub fn accept(&self, token: &[u8]) -> Result<AcceptedContext, HelperError> {
        if token.len() > TOKEN_MAX {
            return Err(HelperError::TooLong(token.len()));
        }
        match InitialToken::of(token) {
            InitialToken::Kerberos => {}
            other => return Err(HelperError::Mechanism(other)),
        }
        match self.ask(&Request::Accept { token })?.1 {
            Reply::Established { token: reply, peer, own, lucid } => {
                Ok(AcceptedContext { reply, client: peer, service: own, lucid: *lucid })
            }
            other => Err(unexpected(other)),
        }
    }

    /// Begins a context with a service (`GSS_Init_sec_context`): `nfs@HOST`, whose name the library completes as `krb5.conf` says,
    /// or a principal as it is, `nfs/HOST@REALM`.
    ///
    /// # Errors
    /// There is no ticket, or nobody to ask.
    pub fn initiate(&self, target: &str) -> Result<Initiation<'_>, HelperError> {
        if target.len() > TEXT_MAX {
            return Err(HelperError::TooLong(target.len()));
        }
        match self.ask(&Request::Initiate { target })? {
            (member, Reply::Started { token }) => Ok(Initiation { member, token }),
            (_, other) => Err(unexpected(other)),
        }
    }

    /// Asks a helper, and another one if the first has ended.
    fn ask(&self, request: &Request<'_>) -> Result<(Borrowed<'_>, Reply), HelperError> {
        loop {
            let mut member = self.borrow()?;
            match member.member().ask(request) {
                Err(_) if member.member().has_ended => {}
                outcome => return outcome.map(|reply| (member, reply)),
            }
        }
    }

    fn borrow(&self) -> Result<Borrowed<'_>, HelperError> {
        let is_waiting = |members: &mut Members| members.free.is_empty() && members.alive > 0;
        let (mut members, _) = self
            .released
            .wait_timeout_while(self.members(), PATIENCE, is_waiting)
            .unwrap_or_else(PoisonError::into_inner);
        match members.free.pop() {
            Some(member) => Ok(Borrowed { helper: self, member: Some(member) }),
            None if members.alive == 0 => Err(HelperError::Ended),
            None => Err(HelperError::Busy),
        }
    }

    fn members(&self) -> MutexGuard<'_, Members> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Initiation<'_> {
    /// The token for the service.
    pub fn token(&self) -> &[u8] {
        &self.token
    }

    /// The context, once the service has answered with a token of its own.
    ///
    /// # Errors
    /// The token is refused: it is not from the service that was asked for. Or the helper died meanwhile.
    pub fn finish(mut self, token: &[u8]) -> Result<InitiatedContext, HelperError> {
        if token.len() > TOKEN_MAX {
            return Err(HelperError::TooLong(token.len()));
        }
        match self.member.member().ask(&Request::Finish { token })? {
            Reply::Established { peer, own, lucid, .. } => {
                Ok(InitiatedContext { client: own, service: peer, lucid: *lucid })
            }
            other => Err(unexpected(other)),
        }
    }
}

impl Member {
    fn start(settings: &HelperSettings) -> Result<Self, HelperError> {
        let failed = |error| HelperError::System("starting the Kerberos helper", error);
        let (socket, theirs) = pair().map_err(failed)?;
        let mut command = Command::new(&settings.program);
        command.args(&settings.arguments).env_clear().envs(settings.environment.iter().cloned());
        command.env(ROLE, SUPERVISOR).stdin(theirs).stdout(Stdio::null());
        if let Some((user, group)) = settings.user {
            command.uid(user).gid(group);
        }
        // A signal from the terminal is for the process that started the helpers. They end when it closes its socket.
        let supervisor = command.process_group(0).spawn().map_err(failed)?;
        Ok(Self { socket: Some(socket), supervisor, last_number: 0, has_ended: false })
    }

    /// Asks, again if the worker died meanwhile, and waits for the answer.
    fn ask(&mut self, request: &Request<'_>) -> Result<Reply, HelperError> {
        let outcome = self.exchange(request);
        self.has_ended = match &outcome {
            Err(HelperError::Ended) => true,
            Err(HelperError::System(_, error)) => {
                matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
            }
            _ => false,
        };
        outcome
    }

    fn exchange(&mut self, request: &Request<'_>) -> Result<Reply, HelperError> {
        let failed = |error| HelperError::System("asking the Kerberos helper", error);
        let socket = self.socket.as_ref().ok_or(HelperError::Lost)?;
        self.last_number += 1;
        let message = request.encode(self.last_number);
        drain(socket);
        // One for all attempts: what made one worker hang makes the next one hang, too.
        let deadline = Instant::now() + time_of(request) + GRACE;
        for _ in 0..ATTEMPTS {
            send_message(socket, &message).map_err(failed)?;
            match next_reply(socket, self.last_number, deadline)? {
                Reply::Died => {}
                reply => return Ok(reply),
            }
        }
        Err(HelperError::Lost)
    }
}

/// The answer to this request, whichever of its copies it is to, or that the worker died.
fn next_reply(socket: &OwnedFd, wanted: u64, deadline: Instant) -> Result<Reply, HelperError> {
    loop {
        let message = next_message_by(socket, deadline).map_err(|error| match error {
            error if is_late(&error) => HelperError::Late,
            error => HelperError::System("hearing from the Kerberos helper", error),
        })?;
        match Reply::decode(&message.ok_or(HelperError::Ended)?).ok_or(HelperError::Garbled)? {
            (_, Reply::Died) => return Ok(Reply::Died),
            (number, reply) if number == wanted => return Ok(reply),
            // An answer that came too late for the one who asked.
            _ => {}
        }
    }
}

impl Borrowed<'_> {
    fn member(&mut self) -> &mut Member {
        self.member.as_mut().expect("it is given back when this is dropped")
    }
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        let ended = {
            let mut members = self.helper.members();
            match self.member.take() {
                Some(member) if member.has_ended => {
                    members.alive -= 1;
                    Some(member)
                }
                member => {
                    members.free.extend(member);
                    None
                }
            }
        };
        self.helper.released.notify_all();
        // This waits for its process: not while the lock is held.
        drop(ended);
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        drop(self.socket.take());
        // The worker may be waiting for a KDC; it ends by itself. A confined server may not send signals, and waits for it.
        let _: io::Result<()> = self.supervisor.kill();
        let _ = self.supervisor.wait();
    }
}

fn unexpected(reply: Reply) -> HelperError {
    match reply {
        Reply::Failed(failure) => HelperError::Gss(failure),
        Reply::Unfit(error) => HelperError::Lucid(error),
        Reply::NoLibrary(why) => HelperError::NoLibrary(why),
        _ => HelperError::Garbled,
    }
}

/// The processes whose workers a test ends.
#[cfg(test)]
impl Helper {
    pub(crate) fn supervisors(&self) -> Vec<u32> {
        self.members().free.iter().map(|member| member.supervisor.id()).collect()
    }
}

#[cfg(test)]
impl Initiation<'_> {
    pub(crate) fn supervisors(&self) -> Vec<u32> {
        self.member.member.iter().map(|member| member.supervisor.id()).collect()
    }
}
