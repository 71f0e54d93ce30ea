//! NOTIFY: a client restarted, and holds nothing any more. Believed only of the host that calls, and only if its number is another
//! one than when it locked: what it locked since then stays.

use std::time::Instant;

use howdah_wire::nsm::notify::Arguments;
use howdah_wire::xdr::Decode;

use super::Nsm;
use crate::{Refusal, Reply, Request};

/// Answers a call.
pub fn run(nsm: &Nsm, request: &mut Request<'_, '_>, _: &mut Reply) -> Result<(), Refusal> {
    let arguments = Arguments::decode(&mut request.arguments)?;
    let client = request.peer.ends.client.ip().to_canonical();
    for (host, known) in nsm.states.hosts().named(arguments.name.0, client) {
        if known.number == Some(arguments.state) {
            continue;
        }
        if !known.takes(request.peer) {
            if let Some(left_out) = nsm.refusals.log(Instant::now()) {
                tracing::warn!(
                    %client, left_out,
                    "a notice of restart from a port of 1024 or above is not believed: if the client did restart, free its locks with howdah release {client}"
                );
            }
            continue;
        }
        tracing::info!(%client, "a client restarted: its locks are free");
        let freed = nsm.states.ask(|state, now| {
            state.release_host(now, host);
            Ok(())
        });
        if let Err(error) = freed {
            tracing::debug!(?error, "freeing the locks of a host");
        }
    }
    Ok(())
}
