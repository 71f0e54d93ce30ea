//! FREE_ALL: a client restarted, and holds nothing any more. Believed only of the host that calls.

use howdah_wire::nlm::free_all::Arguments;
use howdah_wire::xdr::Decode;

use super::Nlm;
use crate::{Refusal, Request};

/// Answers a call.
pub fn run(nlm: &Nlm, request: &mut Request<'_, '_>) -> Result<(), Refusal> {
    let arguments = Arguments::decode(&mut request.arguments)?;
    let client = request.peer.ends.client.ip().to_canonical();
    for (host, known) in nlm.states.hosts().named(arguments.name.0, client) {
        if !known.takes(request.peer) {
            continue;
        }
        let freed = nlm.states.ask(|state, now| {
            state.release_host(now, host);
            Ok(())
        });
        // Its locks are free; what is written down of it is gone later.
        if let Err(error) = freed {
            tracing::debug!(?error, "freeing the locks of a host");
        }
    }
    Ok(())
}
