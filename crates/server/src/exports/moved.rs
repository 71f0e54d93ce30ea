//! Whether a client that has moved to another address has the rights there that it had: it is judged by where it connected from.

use super::{Export, Exports};
use crate::Peer;

/// Whether every export judges a client alike at two of its addresses.
pub fn are_judged_alike(exports: &Exports, one: &Peer, other: &Peer) -> bool {
    exports.iter().all(|export| judges_alike(export, one, other))
}

fn judges_alike(export: &Export, one: &Peer, other: &Peer) -> bool {
    match (export.rule(one), export.rule(other)) {
        (Some(here), Some(there)) => {
            std::ptr::eq(here, there) && export.refuses_port(here, one) == export.refuses_port(there, other)
        }
        (None, None) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use howdah_vfs::memory::MemoryFileSystem;

    use super::*;
    use crate::exports::{ClientRule, Clients, PrivilegedPorts};
    use crate::{Ends, Transport};

    fn peer(client: &str) -> Peer {
        let [client, server] = [client, "192.0.2.1:2049"].map(|text| text.parse().expect("an address"));
        Peer::plain(Ends { client, server }, Transport::Quic)
    }

    #[test]
    fn rules_and_ports_count_and_not_the_address_itself() {
        let network = |address: &str, prefix, privileged_ports| {
            let address = address.parse().expect("an address");
            let clients = Clients::Network { address, prefix };
            ClientRule { clients, privileged_ports, ..ClientRule::default() }
        };
        let rules = vec![
            network("192.0.2.0", 24, PrivilegedPorts::Never),
            network("198.51.100.0", 24, PrivilegedPorts::Always),
        ];
        let export = Export::new("/", 1, Arc::new(MemoryFileSystem::new()), rules);
        let exports = Exports::new(vec![export], [7; 16]).expect("one export");
        for (one, other, alike) in [
            ("192.0.2.7:700", "192.0.2.8:7000", true),
            ("192.0.2.7:700", "198.51.100.8:700", false),
            ("192.0.2.7:700", "203.0.113.8:700", false),
            ("203.0.113.9:700", "203.0.113.8:700", true),
            ("203.0.113.9:700", "192.0.2.7:700", false),
            ("198.51.100.8:700", "198.51.100.8:701", true),
            ("198.51.100.8:700", "198.51.100.8:7000", false),
            ("198.51.100.8:700", "198.51.100.9:701", true),
        ] {
            assert_eq!(are_judged_alike(&exports, &peer(one), &peer(other)), alike, "{one} {other}");
        }
    }
}
