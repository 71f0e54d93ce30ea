//! TEST: whether a lock could be had, and if not, who holds what is in the way.

use howdah_state::StateError;
use howdah_wire::nlm::Status;
use howdah_wire::nlm::test::{Arguments, Outcome, Reply};
use howdah_wire::xdr::{Decode, Encoder};

use super::Nlm;
use super::context::{NlmContext, owner};
use super::convert;
use crate::states::LocalLock;
use crate::{Refusal, Request};

/// Why a lock cannot be had.
enum Denial {
    /// For this reason.
    Status(Status),
    /// The state says so.
    State(StateError),
}

impl From<Status> for Denial {
    fn from(status: Status) -> Self {
        Self::Status(status)
    }
}

/// Answers a call.
pub fn answer(nlm: &Nlm, request: &mut Request<'_, '_>) -> Result<Vec<u8>, Refusal> {
    let context = NlmContext::new(nlm, request)?;
    let arguments = Arguments::decode(&mut request.arguments)?;
    let judged = test(&context, &arguments);
    let outcome = match &judged {
        Ok(()) => Outcome::Other(Status::Granted),
        Err(Denial::Status(status)) => Outcome::Other(*status),
        Err(Denial::State(StateError::Denied(conflict))) => Outcome::Denied(convert::holder(conflict)),
        Err(Denial::State(error)) => Outcome::Other(convert::status(error)),
    };
    Ok(Encoder::to_vec(&Reply { cookie: arguments.cookie, outcome }))
}

fn test(context: &NlmContext<'_>, arguments: &Arguments<'_>) -> Result<(), Denial> {
    let lock = &arguments.lock;
    let (key, range) = (context.file(lock.file, false)?, convert::range(lock.offset, lock.length)?);
    let kind = convert::kind(arguments.exclusive);
    let test = context.test(lock.caller.0, &key, LocalLock { range, kind }, |state, now, host| {
        state.nlm(now).test(&owner(host, lock), &key, kind, range)
    });
    test.map_err(Denial::State)
}
