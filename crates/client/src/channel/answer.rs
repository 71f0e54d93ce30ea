//! What a call comes back with.

use howdah_rpc::client::Reply;
use howdah_rpc::client::envelope::{CallProtection, DeniedCall};
use howdah_wire::rpc::{Accepted, Denied};

use super::{CallError, CallRefusal};

/// The answer to a call that the server ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The procedure's results, without received data and its padding.
    pub results: Vec<u8>,
    /// The buffer for the data, if the call had one, and how many bytes were appended to it.
    pub received: Option<(Vec<u8>, usize)>,
    /// Whether the call was sent more than once, so that it may have run more than once at a server that remembers no
    /// replies.
    pub sent_more_than_once: bool,
}

impl Answer {
    /// What a denial means for a call that was protected: whether other keys help.
    pub(super) fn denied(reply: &mut Reply, protection: &dyn CallProtection) -> Option<CallError> {
        let Err(Denied::Authentication(status)) = reply.outcome else { return None };
        match protection.on_denied(status) {
            DeniedCall::Over => None,
            DeniedCall::NewKeys => {
                let buffer = reply.received.take().map(|(buffer, _)| buffer);
                Some(CallError::NewKeys { buffer, may_have_run: false })
            }
        }
    }

    /// What a reply means for who called.
    pub(super) fn from_reply(reply: Reply) -> Result<Self, CallError> {
        match (reply.outcome, reply.problem) {
            (Ok(Accepted::Success), None) => {
                Ok(Self { results: reply.results, received: reply.received, sent_more_than_once: false })
            }
            (Ok(Accepted::Success), Some(problem)) => Err(CallError::Malformed(problem)),
            (Ok(other), _) => Err(CallError::Refused(CallRefusal::NotRun(other))),
            (Err(denied), _) => Err(CallError::Refused(CallRefusal::Denied(denied))),
        }
    }

    /// How many bytes a call of this volume moved.
    pub(super) fn moved(&self, volume: usize) -> usize {
        self.received.as_ref().map_or(volume, |(_, count)| *count)
    }
}
