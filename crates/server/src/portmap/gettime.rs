//! GETTIME: the host's clock (RFC 1833 2.2.1).

use std::time::{SystemTime, UNIX_EPOCH};

use howdah_wire::rpcbind::gettime::Reply as Answer;

use super::Portmap;
use crate::program::Refusal;
use crate::{Reply, Request};

/// Answers GETTIME; the 32 bits wrap around in 2106, as the protocol has it.
pub fn run(_: &Portmap, _: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    reply.write(&Answer { seconds: since.as_secs() as u32 });
    Ok(())
}
