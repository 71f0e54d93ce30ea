//! UNLOCK: unlocks a range of a file, also one that is not locked.

use howdah_wire::nlm::Status;
use howdah_wire::nlm::unlock::{Arguments, Reply};
use howdah_wire::xdr::{Decode, Encoder};

use super::Nlm;
use super::context::{NlmContext, owner};
use super::convert;
use crate::{Refusal, Request};

/// Answers a call.
pub fn answer(nlm: &Nlm, request: &mut Request<'_, '_>) -> Result<Vec<u8>, Refusal> {
    let context = NlmContext::new(nlm, request)?;
    let arguments = Arguments::decode(&mut request.arguments)?;
    let status = unlock(&context, &arguments).err().unwrap_or(Status::Granted);
    Ok(Encoder::to_vec(&Reply { cookie: arguments.cookie, status }))
}

fn unlock(context: &NlmContext<'_>, arguments: &Arguments<'_>) -> Result<(), Status> {
    let lock = &arguments.lock;
    let (key, range) = (context.named(lock.file)?, convert::range(lock.offset, lock.length)?);
    let pending = context.nlm.callbacks.pending();
    let unlocked = context.release(lock.caller.0, (), |state, now, host| {
        let owner = owner(host, lock);
        state.nlm(now).unlock(&owner, &key, range)?;
        pending.settle(&key, &owner, range);
        Ok(())
    });
    unlocked.map_err(|error| convert::status(&error))
}
