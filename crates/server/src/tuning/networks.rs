//! Sizes for clients of a network, where they are not as for all.

use std::net::IpAddr;

use howdah_tune::Own;

use crate::exports::Clients;

/// What holds for the connections of some clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkSizes {
    /// Whose.
    pub clients: Clients,
    /// What holds for them instead of what holds for all.
    pub own: Own,
}

/// What holds for a client: the first entry that it fits, as with the rules of exports.
pub fn sizes_for(networks: &[NetworkSizes], client: IpAddr) -> Own {
    networks
        .iter()
        .find(|network| network.clients.contains(client))
        .map_or_else(Own::default, |network| network.own)
}

#[cfg(test)]
mod tests {
    use howdah_tune::Setting;

    use super::*;

    #[test]
    fn the_first_network_that_fits_holds() {
        let network = |address: &str, prefix, size| NetworkSizes {
            clients: Clients::Network { address: address.parse().expect("an address"), prefix },
            own: Own { send_buffer: Some(Setting::Fixed(size)), ..Own::default() },
        };
        // A whole IPv6 address counts, though all of its 64 bits are one client.
        let networks = [network("10.1.0.0", 16, 1), network("10.0.0.0", 8, 2), network("fd00::7", 128, 3)];
        for (client, size) in [
            ("10.1.2.3", Some(1)),
            ("10.2.2.3", Some(2)),
            ("::ffff:10.2.2.3", Some(2)),
            ("fd00::7", Some(3)),
            ("fd00::8", None),
            ("192.0.2.1", None),
        ] {
            let own = sizes_for(&networks, client.parse().expect("an address"));
            assert_eq!(own.send_buffer, size.map(Setting::Fixed), "{client}");
        }
    }
}
