//! CANCEL: a client waits for a lock no longer.

use howdah_wire::nlm::Status;
use howdah_wire::nlm::cancel::{Arguments, Reply};
use howdah_wire::xdr::{Decode, Encoder};

use super::Nlm;
use super::context::{NlmContext, owner};
use super::convert;
use crate::{Refusal, Request};

/// Answers a call.
pub fn answer(nlm: &Nlm, request: &mut Request<'_, '_>) -> Result<Vec<u8>, Refusal> {
    let context = NlmContext::new(nlm, request)?;
    let arguments = Arguments::decode(&mut request.arguments)?;
    let status = cancel(&context, &arguments).unwrap_or_else(|status| status);
    Ok(Encoder::to_vec(&Reply { cookie: arguments.cookie, status }))
}

/// A lock that the client has, and does not know of yet, is taken back.
fn cancel(context: &NlmContext<'_>, arguments: &Arguments<'_>) -> Result<Status, Status> {
    let lock = &arguments.lock;
    let (key, range) = (context.named(lock.file)?, convert::range(lock.offset, lock.length)?);
    let kind = convert::kind(arguments.exclusive);
    let pending = context.nlm.callbacks.pending();
    let cancelled = context.release(lock.caller.0, false, |state, now, host| {
        let owner = owner(host, lock);
        if state.nlm(now).cancel(&owner, &key, kind, range) {
            return Ok(true);
        }
        let untold = pending.cancel(&key, &owner, (range, kind));
        untold.iter().for_each(|grant| state.refuse(now, grant, false));
        Ok(!untold.is_empty())
    });
    match cancelled {
        Ok(true) => Ok(Status::Granted),
        Ok(false) => Ok(Status::Denied),
        Err(error) => Err(convert::status(&error)),
    }
}
