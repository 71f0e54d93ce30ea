//! GETADDRLIST: every address of a program in the family of the call (RFC 1833 2.2.2).

use std::net::SocketAddr;

use howdah_wire::portmap::Protocol;
use howdah_wire::rpcbind::getaddrlist::{Address, Arguments, Reply as Answer, Semantics};
use howdah_wire::rpcbind::{Network, Text, UniversalAddress};
use howdah_wire::xdr::Decode;

use super::Portmap;
use super::places::{Wanted, protocol_and_family};
use crate::program::Refusal;
use crate::{Reply, Request};

/// Answers GETADDRLIST.
pub fn run(portmap: &Portmap, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let Arguments { binding } = Arguments::decode(&mut request.arguments)?;
    let asked = request.peer.ends.server.ip();
    let mut found = Vec::new();
    for network in Network::ALL.into_iter().filter(|network| network.is_ipv6() == asked.is_ipv6()) {
        let port = portmap.port(binding.program, Wanted::Version(binding.version), network, asked);
        found.extend(port.map(|port| (network, UniversalAddress(SocketAddr::new(asked, port)).to_string())));
    }
    let addresses = found.iter().map(|(network, address)| entry(*network, address)).collect();
    reply.write(&Answer { addresses });
    Ok(())
}

fn entry(network: Network, address: &str) -> Address<'_> {
    let (protocol, family) = protocol_and_family(network);
    let semantics =
        if network.protocol() == Protocol::TCP { Semantics::STREAM } else { Semantics::DATAGRAMS };
    Address {
        address: Text::from(address),
        network: Text::from(network.id()),
        semantics,
        family: Text::from(family),
        protocol: Text::from(protocol),
    }
}
