//! One call and its answer: credentials, "not now", and what becomes of an answer that is none.

use howdah_vfs::{Caller, Change, FsError, Result};
use howdah_wire::nfs3::{self, Refused, Status, WeakCacheConsistency};
use howdah_wire::xdr::{Decode, DecodeError, Decoder, Encode};

use super::client::Nfs3;
use super::convert::{note, refusal};
use super::procedure::Procedure;
use crate::channel::{Answer, CallError, Payload, Pending, ReceiveInto, Request};
use crate::common::{Jukebox, NewKeys, failure};

/// What a server answered.
pub(super) struct Results {
    bytes: Vec<u8>,
    /// Whether the call was sent more than once, so that this may be the answer to its second run.
    pub(super) repeated: bool,
}

impl Results {
    /// The answer, decoded.
    pub(super) fn decode<'a, R: Decode<'a>>(&'a self, procedure: Procedure) -> Result<R> {
        R::decode(&mut Decoder::new(&self.bytes)).map_err(|error| malformed(procedure, &error))
    }

    /// Takes what they say of a node that the call changed. What a second run saw before it may be what the first one left.
    pub(super) fn note(&self, change: &mut Change, consistency: &WeakCacheConsistency) {
        note(change, consistency);
        if self.repeated {
            change.before = None;
        }
    }
}

impl From<Answer> for Results {
    fn from(answer: Answer) -> Self {
        Self { bytes: answer.results, repeated: answer.sent_more_than_once }
    }
}

/// The success in an answer; from a refusal, `on_refusal` takes what it says.
pub(super) fn success<S, F>(
    reply: std::result::Result<S, Refused<F>>,
    on_refusal: impl FnOnce(&F),
) -> Result<S> {
    reply.map_err(|refused| {
        on_refusal(&refused.detail);
        refusal(refused.status)
    })
}

/// An answer that is not what the protocol says. Nothing in it can be trusted.
pub(super) fn malformed(procedure: Procedure, error: &DecodeError) -> FsError {
    tracing::warn!(procedure = procedure.name, %error, "the server's reply makes no sense");
    FsError::ServerFault
}

impl Nfs3 {
    /// Makes a call, again while the server says "not now".
    pub(super) fn call(
        &self,
        caller: &Caller,
        procedure: Procedure,
        arguments: &dyn Encode,
    ) -> Result<Results> {
        let request = || self.request(caller, procedure, arguments, None, None);
        let answer = self.insist(procedure, None, request)?;
        Ok(answer.into())
    }

    /// Makes the call that `request` builds, or waits for it if it was started already, and makes it again while the server
    /// says "not now".
    pub(super) fn insist<'r>(
        &self,
        procedure: Procedure,
        started: Option<Pending>,
        request: impl FnMut() -> Request<'r>,
    ) -> Result<Answer> {
        self.insist_unless_too_large(procedure, started, request)?.map_err(|_| FsError::Io)
    }

    /// The same for calls that can be made smaller: where they should be, says how much passes, in bytes.
    pub(super) fn insist_unless_too_large<'r>(
        &self,
        procedure: Procedure,
        mut started: Option<Pending>,
        mut request: impl FnMut() -> Request<'r>,
    ) -> Result<std::result::Result<Answer, usize>> {
        let mut jukebox = Jukebox::new(self.patience());
        let mut new_keys = NewKeys::default();
        let mut repeated = false;
        loop {
            let outcome = match started.take() {
                Some(pending) => pending.wait(),
                None => self.channel.call(request()),
            };
            let mut answer = match outcome {
                Err(CallError::TooLarge { transfer, .. }) => return Ok(Err(transfer)),
                Err(CallError::NewKeys { may_have_run, .. }) if new_keys.next() => {
                    repeated |= may_have_run;
                    continue;
                }
                Err(error) if procedure.is_optional && error.lacks_program() => {
                    return Err(FsError::NotSupported);
                }
                outcome => outcome.map_err(|error| failure(procedure.name, &error))?,
            };
            repeated |= answer.sent_more_than_once;
            answer.sent_more_than_once = repeated;
            if !is_not_now(&answer.results) {
                return Ok(Ok(answer));
            }
            tracing::debug!(procedure = procedure.name, "the server says: not now");
            jukebox.wait()?;
        }
    }

    /// A call as the channel takes it.
    pub(super) fn request<'a>(
        &'a self,
        caller: &Caller,
        procedure: Procedure,
        arguments: &'a dyn Encode,
        payload: Option<Payload>,
        receive: Option<ReceiveInto>,
    ) -> Request<'a> {
        Request {
            procedure: procedure.number,
            credentials: self.identity.credentials(caller, &self.machine),
            protection: self.identity.protection(caller),
            arguments,
            payload,
            receive,
            class: procedure.class,
            replay: procedure.replay,
            ..Request::null(nfs3::PROGRAM, nfs3::VERSION)
        }
    }
}

/// Every answer starts with its status.
pub(super) fn is_not_now(results: &[u8]) -> bool {
    results.starts_with(&(Status::Jukebox as u32).to_be_bytes())
}
