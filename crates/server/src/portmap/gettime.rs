//! GETTIME: what this host's clock shows (RFC 1833 2.2.1). Heads of a cluster are compared by it.

use std::time::{SystemTime, UNIX_EPOCH};

use howdah_wire::rpcbind::gettime::Reply as Answer;

use super::Portmap;
use crate::program::Refusal;
use crate::{Reply, Request};

/// Answers GETTIME.
pub fn run(_: &Portmap, _: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // The protocol's seconds end in 2106.
    reply.write(&Answer { seconds: now.as_secs() as u32 });
    Ok(())
}
