//! The addresses of this host, looked up now and then.

use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::RwLock;
use std::time::{Duration, Instant};

use crate::interfaces;

/// What was looked up is good for so long.
const FRESH: Duration = Duration::from_secs(5);

/// The addresses of this host.
#[derive(Debug, Default)]
pub struct OwnAddresses {
    known: RwLock<Option<(Instant, HashSet<IpAddr>)>>,
}

impl OwnAddresses {
    /// Whether an address is one of them.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        if address.is_loopback() {
            return true;
        }
        let fresh = |known: &Option<(Instant, HashSet<IpAddr>)>| {
            known.as_ref().filter(|(at, _)| at.elapsed() < FRESH).map(|(_, own)| own.contains(&address))
        };
        if let Some(is_own) = self.known.read().ok().and_then(|known| fresh(&known)) {
            return is_own;
        }
        let Ok(mut known) = self.known.write() else { return false };
        // When the addresses cannot be read again, for want of descriptors, the last known ones count.
        if let Ok(found) = interfaces() {
            let own =
                found.iter().flat_map(|interface| &interface.addresses).map(|address| address.to_canonical());
            *known = Some((Instant::now(), own.collect()));
        }
        known.as_ref().is_some_and(|(_, own)| own.contains(&address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_host_are_told_from_others() {
        let own = OwnAddresses::default();
        let of_interfaces = interfaces().expect("they can be listed");
        for address in of_interfaces.iter().flat_map(|interface| &interface.addresses) {
            assert!(own.contains(*address), "{address}");
        }
        for address in ["127.0.0.1", "127.9.8.7", "::1", "::ffff:127.0.0.1"] {
            assert!(own.contains(address.parse().expect("an address")), "{address}");
        }
        // RFC 5737: nobody's.
        assert!(!own.contains("192.0.2.1".parse().expect("an address")));
    }
}
