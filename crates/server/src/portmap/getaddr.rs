//! GETADDR and GETVERSADDR: where a program listens (RFC 1833 2.2.1 and 2.2.2).

use std::net::SocketAddr;

use howdah_wire::rpcbind::getaddr::{Arguments, Reply as Answer};
use howdah_wire::rpcbind::{Text, UniversalAddress};
use howdah_wire::xdr::Decode;

use super::Portmap;
use super::places::{Wanted, network};
use crate::program::Refusal;
use crate::{Reply, Request};

/// Answers GETADDR, which takes another version's address for one that is not served.
pub fn of_any_version(
    portmap: &Portmap,
    request: &mut Request<'_, '_>,
    reply: &mut Reply,
) -> Result<(), Refusal> {
    answer(portmap, request, reply, |_| Wanted::Any)
}

/// Answers GETVERSADDR, which does not.
pub fn of_version(
    portmap: &Portmap,
    request: &mut Request<'_, '_>,
    reply: &mut Reply,
) -> Result<(), Refusal> {
    answer(portmap, request, reply, Wanted::Version)
}

/// The address in the answer is the one that the caller reached us at: whatever the host calls its networks, that one works.
fn answer(
    portmap: &Portmap,
    request: &mut Request<'_, '_>,
    reply: &mut Reply,
    wanted: impl FnOnce(u32) -> Wanted,
) -> Result<(), Refusal> {
    let Arguments { binding } = Arguments::decode(&mut request.arguments)?;
    let asked = request.peer.ends.server.ip();
    let network = network(request.peer.transport, asked.is_ipv6());
    let port = portmap.port(binding.program, wanted(binding.version), network, asked);
    let address =
        port.map_or(String::new(), |port| UniversalAddress(SocketAddr::new(asked, port)).to_string());
    reply.write(&Answer { address: Text::from(address.as_str()) });
    Ok(())
}
