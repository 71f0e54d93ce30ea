//! GETPORT: on which port a program listens (RFC 1833 3.2).

use howdah_wire::portmap::getport::{Arguments, Reply as Answer};
use howdah_wire::rpcbind::Network;
use howdah_wire::xdr::Decode;

use super::Portmap;
use super::places::Wanted;
use crate::program::Refusal;
use crate::{Reply, Request};

/// Answers GETPORT. For a version that is not served it answers with the port of those that are, as the usual portmappers do.
pub fn run(portmap: &Portmap, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let Arguments { mapping } = Arguments::decode(&mut request.arguments)?;
    let asked = request.peer.ends.server.ip();
    let found = Network::new(mapping.protocol, asked.is_ipv6())
        .and_then(|network| portmap.port(mapping.program, Wanted::Any, network, asked));
    reply.write(&Answer { port: found.map_or(0, u32::from) });
    Ok(())
}
