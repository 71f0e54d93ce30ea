//! One call and its answer: what is called again because the session was lost, or since the server says "not now".

use std::sync::Arc;
use std::time::Duration;

use howdah_session::{SEQUENCE_STAMP, UPKEEP_STAMP};
use howdah_vfs::{Caller, FsError, Result};
use howdah_wire::nfs4::compound::{ReplyHead, ResultHead};
use howdah_wire::nfs4::{
    self, Status, create, link, open, remove, removexattr, rename, sequence, setattr, setxattr,
};
use howdah_wire::xdr::{Decode, DecodeError, Decoder, Encode};

use super::compound::{Behind, Compound, InSession};
use super::handles::Handles;
use super::results::Results;
use super::session::Session;
use crate::channel::{
    Answer, CallError, Channel, LateAnswer, Payload, Pending, ReceiveInto, ReplaySafety, Request,
};
use crate::common::{Identity, Jukebox, NewKeys, failure};

/// The longest reply to a change, in bytes. A server that keeps less would refuse the change, and is not asked to keep it: one that is
/// sent again is then judged as with NFSv3.
const KEPT_MIN: u32 = 1200;
/// So often one call may be refused for its stateid.
const STATES_REFUSED_MAX: u32 = 3;
/// So often one call may lose its session before it waits ahead of its next try. A server that restarts loses it once.
const SESSIONS_LOST_MAX: u32 = 3;

/// What compounds are sent by.
pub(super) struct CompoundCalls {
    pub(super) session: Session,
    pub(super) channel: Arc<Channel>,
    pub(super) identity: Identity,
    pub(super) machine: Vec<u8>,
    pub(super) handles: Arc<Handles>,
    /// How long a server may say "not now"; `None`: for ever.
    pub(super) patience: Option<Duration>,
}

impl CompoundCalls {
    /// Makes a call, and makes it again while its session is lost or the server says "not now".
    pub(super) fn call(&self, caller: &Caller, compound: &Compound<'_>) -> Result<Results> {
        self.call_or_hear(caller, compound, None)
    }

    /// The same. If the caller gives up, the answer is heard when it comes.
    pub(super) fn call_or_hear(
        &self,
        caller: &Caller,
        compound: &Compound<'_>,
        on_late: Option<&LateAnswer>,
    ) -> Result<Results> {
        let mut tries = Tries::new(self, compound.name);
        loop {
            let pending = self.start_and_hear((caller, compound), None, None, on_late);
            let Some(answer) = tries.wait(pending, None)? else { continue };
            // While a session begins, nothing makes another one but who begins it.
            if tries.is_final(&answer, Some(compound))? || (compound.is_upkeep && tries.lost > 0) {
                return Ok(tries.results(answer));
            }
        }
    }

    /// Starts a call.
    pub(super) fn start(
        &self,
        caller: &Caller,
        compound: &Compound<'_>,
        payload: Option<Payload>,
        receive: Option<ReceiveInto>,
    ) -> Pending {
        self.start_and_hear((caller, compound), payload, receive, None)
    }

    fn start_and_hear(
        &self,
        (caller, compound): (&Caller, &Compound<'_>),
        payload: Option<Payload>,
        receive: Option<ReceiveInto>,
        on_late: Option<&LateAnswer>,
    ) -> Pending {
        let keep =
            compound.replay() == ReplaySafety::OnceOnly && self.session.sizes().kept_response >= KEPT_MIN;
        let arguments = InSession { minor_version: self.session.minor_version(), compound, keep };
        let behind = Behind(compound.behind);
        let tail = (!compound.behind.is_empty()).then_some(&behind as &dyn Encode);
        self.channel.start(Request {
            procedure: nfs4::COMPOUND,
            credentials: self.identity.credentials(caller, &self.machine),
            protection: self.identity.protection(caller),
            arguments: &arguments,
            payload,
            tail,
            stamp: Some(if compound.is_upkeep { UPKEEP_STAMP } else { SEQUENCE_STAMP }),
            receive,
            class: compound.class,
            replay: compound.replay(),
            on_late: on_late.cloned(),
            ..Request::null(nfs4::PROGRAM, nfs4::VERSION)
        })
    }
}

/// The tries of one call.
pub(super) struct Tries {
    name: &'static str,
    jukebox: Jukebox,
    new_keys: NewKeys,
    lost: u32,
    states_refused: u32,
    /// It was sent in a session that is lost: it may have run.
    is_repeated: bool,
}

impl Tries {
    /// Before the first answer.
    pub(super) fn new(calls: &CompoundCalls, name: &'static str) -> Self {
        let jukebox = Jukebox::new(calls.patience);
        Self { name, jukebox, new_keys: NewKeys::default(), lost: 0, states_refused: 0, is_repeated: false }
    }

    /// Waits for the answer to a try. Without one the call is to be made again, with new keys; `buffer` is where its data goes.
    pub(super) fn wait(&mut self, pending: Pending, buffer: Option<&mut Vec<u8>>) -> Result<Option<Answer>> {
        match pending.wait() {
            Ok(answer) => Ok(Some(answer)),
            Err(CallError::NewKeys { buffer: back, may_have_run }) if self.new_keys.next() => {
                self.is_repeated |= may_have_run;
                buffer.into_iter().zip(back).for_each(|(buffer, back)| *buffer = back);
                Ok(None)
            }
            Err(error) => Err(failure(self.name, &error)),
        }
    }

    /// Whether the answer counts; else the call is to be made again, now. `compound` says which operation must not run twice.
    pub(super) fn is_final(&mut self, answer: &Answer, compound: Option<&Compound<'_>>) -> Result<bool> {
        let Ok(head) = Beginning::decode(&mut Decoder::new(&answer.results)) else { return Ok(true) };
        // The operation behind SEQUENCE reports that the reply was not kept (RFC 8881 2.10.6.1.3).
        let is_not_kept = head.status == Status::RETRY_UNCACHED_REP;
        let sequence = head.sequence.map(|status| if is_not_kept { head.status } else { status });
        match sequence {
            Some(Status::OK) => {}
            Some(status) if is_of_session(status) => {
                self.is_repeated |= answer.sent_more_than_once || status == Status::RETRY_UNCACHED_REP;
                self.lost += 1;
                if self.lost > SESSIONS_LOST_MAX {
                    tracing::warn!(operation = self.name, %status, "the server takes no call in any session");
                    self.jukebox.wait().map_err(|_| FsError::Io)?;
                }
                // The next try waits in the channel until there is a session again.
                tracing::debug!(operation = self.name, %status, "the session is lost");
                return Ok(false);
            }
            _ => return Ok(true),
        }
        let is_not_now = matches!(head.status, Status::DELAY | Status::GRACE);
        if !is_not_now || compound.is_some_and(|compound| has_changed(compound, head.results)) {
            return Ok(true);
        }
        tracing::debug!(operation = self.name, status = %head.status, "the server says: not now");
        self.jukebox.wait()?;
        Ok(false)
    }

    /// Its stateid was refused. Whether it may be made again with another one.
    pub(super) fn may_check_states(&mut self) -> bool {
        self.states_refused += 1;
        self.states_refused <= STATES_REFUSED_MAX
    }

    /// The answer that counts.
    pub(super) fn results(&self, answer: Answer) -> Results {
        Results { name: self.name, bytes: answer.results, repeated: self.is_repeated }
    }
}

/// A refusal of SEQUENCE after which the call is made again in this session or the next.
fn is_of_session(status: Status) -> bool {
    matches!(
        status,
        Status::BADSESSION
            | Status::DEADSESSION
            | Status::CONN_NOT_BOUND_TO_SESSION
            | Status::BADSLOT
            | Status::BAD_HIGH_SLOT
            | Status::SEQ_MISORDERED
            | Status::RETRY_UNCACHED_REP
            | Status::SEQ_FALSE_RETRY
            | Status::STALE_CLIENTID
            | Status::EXPIRED
    )
}

/// Whether what a compound changes was changed, although an operation behind that was refused.
fn has_changed(compound: &Compound<'_>, results: u32) -> bool {
    const CHANGES: [u32; 8] = [
        create::OPERATION,
        link::OPERATION,
        open::OPERATION,
        remove::OPERATION,
        removexattr::OPERATION,
        rename::OPERATION,
        setattr::OPERATION,
        setxattr::OPERATION,
    ];
    let mut operations = compound.operations.iter();
    let first = operations.position(|operation| CHANGES.contains(&operation.number()));
    // SEQUENCE has a result, too, and so does the operation that was refused.
    first.is_some_and(|first| results as usize > first + 2)
}

/// What a reply begins with.
struct Beginning {
    status: Status,
    results: u32,
    /// How SEQUENCE ended, if it was carried out.
    sequence: Option<Status>,
}

impl Decode<'_> for Beginning {
    fn decode(decoder: &mut Decoder<'_>) -> std::result::Result<Self, DecodeError> {
        let ReplyHead { status, results, .. } = ReplyHead::decode(decoder)?;
        let first = if results > 0 { Some(ResultHead::decode(decoder)?) } else { None };
        let sequence = match first {
            Some(first) => Some(first).filter(|first| first.operation == sequence::OPERATION),
            // Some servers leave out the result of SEQUENCE.
            None => {
                Some(ResultHead { operation: sequence::OPERATION, status }).filter(|_| is_of_session(status))
            }
        };
        Ok(Self { status, results, sequence: sequence.map(|first| first.status) })
    }
}
