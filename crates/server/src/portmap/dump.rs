//! DUMP: everything that is served, and where (RFC 1833 3.2 and 2.2.1).

use howdah_wire::portmap::{Mapping, dump as version2};
use howdah_wire::rpcbind::{Binding, Text, UniversalAddress, dump as version4};

use super::Portmap;
use super::places::places_of;
use crate::program::Refusal;
use crate::programs::Served;
use crate::{Reply, Request};

/// The owner of each registration: this server itself.
const OWNER: &str = "howdah";

/// Answers DUMP of version 2, which knows no IPv6.
pub fn ports(portmap: &Portmap, _: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let listeners = portmap.listeners();
    let mut mappings = Vec::new();
    for served in &portmap.served {
        let Served { program, version, .. } = *served;
        let places = places_of(served, &listeners).into_iter().filter(|place| !place.network.is_ipv6());
        mappings.extend(places.map(|place| Mapping {
            program,
            version,
            protocol: place.network.protocol(),
            port: u32::from(place.address.port()),
        }));
    }
    reply.write(&version2::Reply { mappings });
    Ok(())
}

/// Answers DUMP of versions 3 and 4.
pub fn addresses(portmap: &Portmap, _: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let listeners = portmap.listeners();
    let mut rows = Vec::new();
    for served in &portmap.served {
        let Served { program, version, .. } = *served;
        let places = places_of(served, &listeners).into_iter();
        rows.extend(places.map(|place| {
            (program, version, place.network.id(), UniversalAddress(place.address).to_string())
        }));
    }
    let bindings = rows.iter().map(|(program, version, network, address)| Binding {
        program: *program,
        version: *version,
        network: Text::from(*network),
        address: Text::from(address.as_str()),
        owner: Text::from(OWNER),
    });
    reply.write(&version4::Reply { bindings: bindings.collect() });
    Ok(())
}
