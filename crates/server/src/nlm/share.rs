//! SHARE: opens a file, and excludes others.

use howdah_state::{HostId, NlmOwner, ShareAccess, ShareDeny};
use howdah_wire::nlm::share::{self, Arguments, Reply, Share};
use howdah_wire::nlm::{Cookie, Status};
use howdah_wire::xdr::{Decode, Encoder};

use super::Nlm;
use super::context::NlmContext;
use super::convert;
use crate::{Refusal, Request};

/// Answers a call.
pub fn answer(nlm: &Nlm, request: &mut Request<'_, '_>) -> Result<Vec<u8>, Refusal> {
    let context = NlmContext::new(nlm, request)?;
    let arguments = Arguments::decode(&mut request.arguments)?;
    Ok(reply(arguments.cookie, share(&context, &arguments)))
}

/// The reply to SHARE and UNSHARE.
pub fn reply(cookie: Cookie<'_>, outcome: Result<(), Status>) -> Vec<u8> {
    let status = outcome.err().unwrap_or(Status::Granted);
    Encoder::to_vec(&Reply { cookie, status, sequence: 0 })
}

/// Who opens a file.
pub fn sharer(host: HostId, share: &Share<'_>) -> NlmOwner {
    NlmOwner { host, svid: 0, oh: share.owner.0.into() }
}

fn share(context: &NlmContext<'_>, arguments: &Arguments<'_>) -> Result<(), Status> {
    let share = &arguments.share;
    let mode = (access(share.access), deny(share.deny));
    let excludes = mode.1 != ShareDeny::NONE || mode.0.allows(ShareAccess::WRITE);
    let key = context.file(share.file, excludes)?;
    let shared = context.ask(share.caller.0, |state, now, host| {
        state.nlm(now).share(&sharer(host, share), &key, mode, arguments.reclaim)
    });
    shared.map_err(|error| convert::status(&error))
}

fn access(access: share::ShareAccess) -> ShareAccess {
    match access {
        share::ShareAccess::Nothing => ShareAccess::NONE,
        share::ShareAccess::Reading => ShareAccess::READ,
        share::ShareAccess::Writing => ShareAccess::WRITE,
        share::ShareAccess::Both => ShareAccess::BOTH,
    }
}

fn deny(deny: share::ShareDeny) -> ShareDeny {
    match deny {
        share::ShareDeny::Nothing => ShareDeny::NONE,
        share::ShareDeny::Reading => ShareDeny::READ,
        share::ShareDeny::Writing => ShareDeny::WRITE,
        share::ShareDeny::Both => ShareDeny::BOTH,
    }
}
