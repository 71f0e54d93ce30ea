//! GETQUOTA and GETACTIVEQUOTA: a quota, by a path of an export and the id of its owner.

use std::time::{SystemTime, UNIX_EPOCH};

use howdah_vfs::{QuotaOwner, Shown};
use howdah_wire::rquota::getquota::{Arguments1, Arguments2, GROUP, Reply as Answer, USER};
use howdah_wire::xdr::Decode;

use super::RemoteQuotas;
use super::scale::scaled;
use crate::exports::QuotaRefusal;
use crate::program::Refusal;
use crate::{Reply, Request};

/// Answers a call of version 1.
pub fn run_version_1(
    quotas: &RemoteQuotas,
    request: &mut Request<'_, '_>,
    reply: &mut Reply,
) -> Result<(), Refusal> {
    let Arguments1 { path, user } = Arguments1::decode(&mut request.arguments)?;
    run(quotas, request, path.0, Some(QuotaOwner::User(user)), reply)
}

/// Answers a call of version 2.
pub fn run_version_2(
    quotas: &RemoteQuotas,
    request: &mut Request<'_, '_>,
    reply: &mut Reply,
) -> Result<(), Refusal> {
    let Arguments2 { path, kind, id } = Arguments2::decode(&mut request.arguments)?;
    let owner = match kind {
        USER => Some(QuotaOwner::User(id)),
        GROUP => Some(QuotaOwner::Group(id)),
        _ => None,
    };
    run(quotas, request, path.0, owner, reply)
}

fn run(
    quotas: &RemoteQuotas,
    request: &Request<'_, '_>,
    path: &[u8],
    owner: Option<QuotaOwner>,
    reply: &mut Reply,
) -> Result<(), Refusal> {
    // The protocol has no word for "ask again later": a client that gets no answer does.
    if request.is_put_off {
        return Err(Refusal::Silence);
    }
    let exports = quotas.exports();
    let identity =
        exports.identify(&request.header.credentials, request.principal).map_err(Refusal::Authentication)?;
    let found = owner.map(|owner| exports.quota(path, request.peer, &identity, owner));
    let answer = match found.unwrap_or(Ok(None)) {
        Ok(Some(quota)) => Answer::Quota(scaled(&quota, seconds_since_1970())),
        Ok(None) => Answer::NoQuota,
        Err(QuotaRefusal::NotPermitted) => Answer::NotPermitted,
        Err(QuotaRefusal::Failed(error)) => {
            let (client, path) = (request.peer.ends.client, Shown(path));
            tracing::debug!(%client, %path, %error, "reading a quota");
            Answer::NoQuota
        }
    };
    reply.write(&answer);
    Ok(())
}

fn seconds_since_1970() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
