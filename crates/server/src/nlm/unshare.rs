//! UNSHARE: ends what SHARE began.

use howdah_wire::nlm::Status;
use howdah_wire::nlm::unshare::Arguments;
use howdah_wire::xdr::Decode;

use super::Nlm;
use super::context::NlmContext;
use super::convert;
use super::share::{reply, sharer};
use crate::{Refusal, Request};

/// Answers a call.
pub fn answer(nlm: &Nlm, request: &mut Request<'_, '_>) -> Result<Vec<u8>, Refusal> {
    let context = NlmContext::new(nlm, request)?;
    let arguments = Arguments::decode(&mut request.arguments)?;
    Ok(reply(arguments.cookie, unshare(&context, &arguments)))
}

fn unshare(context: &NlmContext<'_>, arguments: &Arguments<'_>) -> Result<(), Status> {
    let share = &arguments.share;
    let key = context.named(share.file)?;
    let unshared = context.release(share.caller.0, (), |state, now, host| {
        state.nlm(now).unshare(&sharer(host, share), &key);
        Ok(())
    });
    unshared.map_err(|error| convert::status(&error))
}
