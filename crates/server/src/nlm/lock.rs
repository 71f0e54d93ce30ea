//! LOCK and NM_LOCK: locks a range of a file. A client that waits for it is called back when it has it.

use howdah_state::{NlmLockRequest, StateError};
use howdah_wire::nlm::Status;
use howdah_wire::nlm::lock::{Arguments, Reply};
use howdah_wire::xdr::{Decode, Encoder};

use super::Nlm;
use super::context::{NlmContext, owner};
use super::convert;
use crate::{Refusal, Request};

/// Answers a call.
pub fn answer(nlm: &Nlm, request: &mut Request<'_, '_>) -> Result<Vec<u8>, Refusal> {
    let context = NlmContext::new(nlm, request)?;
    let arguments = Arguments::decode(&mut request.arguments)?;
    let status = lock(&context, &arguments).err().unwrap_or(Status::Granted);
    Ok(Encoder::to_vec(&Reply { cookie: arguments.cookie, status }))
}

fn lock(context: &NlmContext<'_>, arguments: &Arguments<'_>) -> Result<(), Status> {
    let lock = &arguments.lock;
    let (key, range) =
        (context.file(lock.file, arguments.exclusive)?, convert::range(lock.offset, lock.length)?);
    let kind = convert::kind(arguments.exclusive);
    // A client that does not know its monitor's number says 0.
    let number = Some(arguments.state).filter(|number| *number != 0);
    let pending = context.nlm.callbacks.pending();
    let locked = context.lock(lock.caller.0, number, &key, |state, now, host| {
        let owner = owner(host, lock);
        let waits = arguments.block;
        let is_reclaim = arguments.reclaim;
        let request = NlmLockRequest { owner: &owner, key: &key, kind, range, waits, is_reclaim };
        let grant = state.nlm(now).lock(request)?;
        // This answer says what a call back would have said.
        pending.settle(&key, &owner, range);
        Ok(grant)
    });
    locked.map(drop).map_err(|error| match &error {
        // Too many wait already: an answer that says "another holds it" is none to a client that waits.
        StateError::Denied(conflict) if arguments.block && !arguments.reclaim && !conflict.is_waiting => {
            Status::NoLocks
        }
        error => convert::status(error),
    })
}
