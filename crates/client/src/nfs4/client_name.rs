//! Who a client is to a server, and the calls by which it becomes known there: EXCHANGE_ID and CREATE_SESSION.

use std::time::Duration;

use howdah_session::ExchangedId;
use howdah_vfs::Caller;
use howdah_wire::nfs4::create_session::{self, ChannelSizes};
use howdah_wire::nfs4::exchange_id::{self, CONFIRMED, ClientOwner, Protection, WITHOUT_PNFS};
use howdah_wire::nfs4::{COMPOUND, CallbackSecurity, ClientId, Opaque, PROGRAM, Status, VERSION, Verifier};
use howdah_wire::xdr::{Array, Encode};
use rustix::rand::{GetRandomFlags, getrandom};

use super::callbacks::{CALLBACK_PROGRAM, CallbackChannel, OFFERED};
use super::compound::Alone;
use super::results::{ResultReader, Stopped};
use crate::channel::{CallError, Channel, Request};
use crate::common::{Identity, NewKeys, machine_name};
use crate::waiting::wait_at_most;

/// What is asked of a session: as much as a call of 1 MiB of data needs, and slots for a long path. Servers grant what they like of it.
const WANTED: ChannelSizes = ChannelSizes {
    header_padding: 0,
    request: (1 << 20) + (8 << 10),
    response: (1 << 20) + (8 << 10),
    kept_response: 8 << 10,
    operations: 128,
    slots: 1024,
    rdma_reads: None,
};
/// Random bytes that make the name of a client unique.
const UNIQUE: usize = 16;

/// Who a client is. Another one in each process and for each mount: two of one name would end each other's state.
pub(super) struct ClientName {
    owner: Vec<u8>,
    /// With the number of the incarnation, the verifier of this start of the client.
    start: u64,
    /// Who makes sessions, and renews them.
    caller: Caller,
    identity: Identity,
    machine: Vec<u8>,
}

/// A client that the server knows, and the minor version that both speak.
#[derive(Debug, Clone, Copy)]
pub(super) struct Identified {
    pub(super) minor_version: u32,
    pub(super) exchanged: ExchangedId,
}

/// What a server said of a client, and of itself.
pub(super) struct Introduction {
    pub(super) known: Identified,
    /// The server's owner and scope (RFC 8881 2.10.4), as text.
    pub(super) server: String,
}

/// Why a step was not done.
#[derive(Debug, Clone)]
pub(super) enum StepError {
    /// There is no answer.
    Call(CallError),
    /// There is no answer in time.
    Silent(Duration),
    /// The server refuses.
    Refused(Status),
    /// The reply is not what the protocol says.
    Malformed,
}

impl From<Stopped> for StepError {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Refused(_, status) => Self::Refused(status),
            Stopped::Malformed => Self::Malformed,
        }
    }
}

impl ClientName {
    /// A client that was never there before.
    pub(super) fn new(caller: Caller, identity: Identity) -> Self {
        let (machine, mut unique) = (machine_name(), [0; UNIQUE]);
        if let Err(error) = getrandom(&mut unique, GetRandomFlags::empty()) {
            tracing::warn!(%error, "asking the system for random bytes");
        }
        let [start, name] =
            [0, 8].map(|at| u64::from_be_bytes(unique[at..at + 8].try_into().expect("eight")));
        let host = String::from_utf8_lossy(&machine);
        let owner = format!("howdah {host} {} {name:016x}", std::process::id()).into_bytes();
        Self { owner, start, caller, identity, machine }
    }

    /// A compound as this client, outside of a session.
    pub(super) fn request(&self) -> Request<'_> {
        self.request_as(&self.caller)
    }

    /// The same for a user of this client.
    pub(super) fn request_as(&self, caller: &Caller) -> Request<'_> {
        Request {
            procedure: COMPOUND,
            credentials: self.identity.credentials(caller, &self.machine),
            protection: self.identity.protection(caller),
            ..Request::null(PROGRAM, VERSION)
        }
    }

    /// Makes the client known (EXCHANGE_ID); another incarnation is another start of it. `patience`: how long the answer may take; without it, as long as the channel says.
    pub(super) fn exchange_id(
        &self,
        channel: &Channel,
        (minor_version, incarnation): (u32, u32),
        patience: Option<Duration>,
    ) -> Result<Introduction, StepError> {
        let verifier = Verifier(self.start.wrapping_add(incarnation.into()).to_be_bytes());
        let arguments = exchange_id::Arguments {
            owner: ClientOwner { verifier, owner: Opaque(&self.owner) },
            flags: WITHOUT_PNFS,
            protection: Protection::None,
            implementation: None,
        };
        let operation = exchange_id::OPERATION;
        let arguments = Alone { minor_version, operation, arguments: &arguments };
        self.call(channel, (&arguments, false), patience, |reader| {
            let reply = reader.take::<exchange_id::Success<'_>>(operation)?;
            let is_confirmed = reply.flags & CONFIRMED != 0;
            let exchanged = ExchangedId { client: reply.client.0, sequence: reply.sequence, is_confirmed };
            let (owner, scope) = (reply.owner.major.0.escape_ascii(), reply.scope.0.escape_ascii());
            let server = format!("\"{owner}\" in \"{scope}\"");
            Ok(Introduction { known: Identified { minor_version, exchanged }, server })
        })
    }

    /// Makes a session (CREATE_SESSION), and invites the server to call over the connection of this call.
    pub(super) fn create_session(
        &self,
        (channel, back): (&Channel, &CallbackChannel),
        known: Identified,
        patience: Option<Duration>,
    ) -> Result<create_session::Success, StepError> {
        back.expect_session();
        let made = self.add_session((channel, create_session::BACK_CHANNEL), known, patience);
        match &made {
            Ok(made) if back.begin(made) => {}
            Ok(_) => channel.expect_no_calls(),
            Err(_) => back.on_no_session(),
        }
        made
    }

    /// The same with these flags: without `BACK_CHANNEL` the server is not invited.
    pub(super) fn add_session(
        &self,
        (channel, flags): (&Channel, u32),
        known: Identified,
        patience: Option<Duration>,
    ) -> Result<create_session::Success, StepError> {
        let arguments = create_session::Arguments {
            client: ClientId(known.exchanged.client),
            sequence: known.exchanged.sequence,
            flags,
            fore: WANTED,
            back: OFFERED,
            callback_program: CALLBACK_PROGRAM,
            security: Array::of(&[CallbackSecurity::None]),
        };
        let (minor_version, operation) = (known.minor_version, create_session::OPERATION);
        let arguments = Alone { minor_version, operation, arguments: &arguments };
        let invites = flags & create_session::BACK_CHANNEL != 0;
        self.call(channel, (&arguments, invites), patience, |reader| {
            reader.take::<create_session::Success>(operation)
        })
    }

    fn call<T>(
        &self,
        channel: &Channel,
        (arguments, invites_calls): (&dyn Encode, bool),
        patience: Option<Duration>,
        take: impl FnOnce(&mut ResultReader<'_>) -> Result<T, Stopped>,
    ) -> Result<T, StepError> {
        let mut new_keys = NewKeys::default();
        let answer = loop {
            let pending = channel.start(Request { arguments, invites_calls, ..self.request() });
            let answer = match patience {
                None => pending.wait(),
                Some(patience) => wait_at_most(pending, patience).ok_or(StepError::Silent(patience))?,
            };
            match answer {
                Err(CallError::NewKeys { .. }) if new_keys.next() => {}
                answer => break answer.map_err(StepError::Call)?,
            }
        };
        let mut reader = ResultReader::begin("EXCHANGE_ID", &answer.results)?;
        Ok(take(&mut reader)?)
    }
}
