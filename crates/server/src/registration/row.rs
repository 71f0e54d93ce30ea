//! What is registered: one version of one program on one network.

use std::fmt;
use std::net::SocketAddr;

use howdah_wire::portmap;
use howdah_wire::rpcbind::Network;

use crate::Transport;
use crate::portmap::{Place, places};
use crate::service::served;

/// One registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The program.
    pub program: u32,
    /// Its version.
    pub version: u32,
    /// How it is reached.
    pub network: Network,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Row {
    /// Everything that a server with these listeners has to register. A network has one place in rpcbind: of several
    /// listeners on one network, the first is registered. `quotas`: whether clients may ask for quotas.
    pub fn all(listeners: &[(Transport, SocketAddr)], quotas: bool) -> Vec<Self> {
        let mut places = places(listeners);
        let all = places.clone();
        places.retain(|place| all.iter().find(|first| first.network == place.network) == Some(place));
        served(quotas)
            .into_iter()
            .filter(|served| served.program != portmap::PROGRAM)
            .flat_map(|served| {
                let fits = move |place: &&Place| {
                    served.takes_datagrams || place.network.protocol() != portmap::Protocol::UDP
                };
                places.iter().filter(fits).map(move |place| Self {
                    program: served.program,
                    version: served.version,
                    network: place.network,
                    address: place.address,
                })
            })
            .collect()
    }
}

impl fmt::Display for Row {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, version, network, address } = self;
        write!(formatter, "program {program} version {version} on {} at {address}", network.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_is_registered_once_on_each_network() {
        let listeners = [
            (Transport::Tcp, "[::]:2049".parse().expect("an address")),
            (Transport::Tcp, "192.0.2.1:20049".parse().expect("an address")),
            (Transport::Udp, "192.0.2.1:2049".parse().expect("an address")),
        ];
        let rows = Row::all(&listeners, false);
        assert!(rows.iter().all(|row| row.program != portmap::PROGRAM));
        let of_mount: Vec<_> = rows
            .iter()
            .filter(|row| (row.program, row.version) == (howdah_wire::mount::PROGRAM, 3))
            .map(|row| (row.network.id(), row.address.to_string()))
            .collect();
        let expected = [("tcp6", "[::]:2049"), ("tcp", "0.0.0.0:2049"), ("udp", "192.0.2.1:2049")];
        assert_eq!(of_mount, expected.map(|(network, address)| (network, address.to_owned())));
    }
}
