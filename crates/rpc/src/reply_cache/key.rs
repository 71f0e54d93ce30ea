//! Which call is which.

use std::hash::{Hash, Hasher};
use std::net::{IpAddr, Ipv6Addr};

use howdah_wire::rpc::{CallHeader, Credentials};
use siphasher::sip::SipHasher13;

/// What makes two messages the same call: a client that sends one again repeats it byte for byte.
///
/// The client's port is no part of it, since a client that lost its connection comes back from another one. Neither are
/// its stamp and name among the credentials, which some clients make anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallKey {
    client: IpAddr,
    xid: u32,
    program: u32,
    version: u32,
    procedure: u32,
    length: usize,
    checksum: u64,
}

/// Makes checksums that nobody outside can foresee.
#[derive(Debug, Clone, Copy)]
pub struct Checksum {
    key: [u8; 16],
}

impl Checksum {
    /// Checksums under a key, which should be random and stay within the process.
    pub fn new(key: [u8; 16]) -> Self {
        Self { key }
    }

    /// A number for something that calls of a client may change, such as a name in a directory.
    pub fn subject(&self, client: IpAddr, bytes: &[u8]) -> u64 {
        let mut hasher = SipHasher13::new_with_key(&self.key);
        owner_of(client).hash(&mut hasher);
        hasher.write(bytes);
        // 0 stands for nothing.
        hasher.finish().max(1)
    }

    /// The key of a call with these arguments, from this client. `principal`: who makes it, if it came by a context of RPCSEC_GSS. The
    /// context itself does not count: a client may send a call again by another one.
    pub fn key(
        &self,
        client: IpAddr,
        header: &CallHeader<'_>,
        principal: Option<&str>,
        arguments: &[u8],
    ) -> CallKey {
        let mut hasher = SipHasher13::new_with_key(&self.key);
        // Not because the address could be missed among the rest, but so that no two clients' calls hash alike.
        match client {
            IpAddr::V4(client) => hasher.write_u32(client.to_bits()),
            IpAddr::V6(client) => hasher.write_u128(client.to_bits()),
        }
        if let Credentials::Sys(user) = header.credentials {
            // Another user of the same client, or one with other groups, gets no answer that was meant for this one.
            hasher.write_u32(user.user);
            hasher.write_u32(user.group);
            user.groups().iter().for_each(|group| hasher.write_u32(*group));
        }
        if let Some(principal) = principal {
            hasher.write(principal.as_bytes());
            // Ends the name, so that no other split of name and arguments has the same hash.
            hasher.write_u8(0);
        }
        // All of them: two WRITEs may differ in their last byte, and some clients begin with the same xid each time.
        hasher.write(arguments);
        CallKey {
            client,
            xid: header.xid,
            program: header.program,
            version: header.version,
            procedure: header.procedure,
            length: arguments.len(),
            checksum: hasher.finish(),
        }
    }
}

impl Hash for CallKey {
    /// The checksum is a good hash already, and xids distinguish the calls that agree in it.
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.checksum ^ u64::from(self.xid));
    }
}

impl CallKey {
    /// A number that spreads calls evenly, for a cache in several parts. One client's calls go to all of them.
    pub fn spread(&self) -> u32 {
        // Fibonacci hashing: consecutive xids, which clients use, end far apart.
        (self.xid ^ self.checksum as u32).wrapping_mul(0x9e37_79b9).rotate_left(16)
    }

    /// The client that the call counts for when room is shared out. A host on IPv6 usually owns a whole /64 network, and could
    /// come from another address of it each time.
    pub(super) fn owner(&self) -> IpAddr {
        owner_of(self.client)
    }
}

fn owner_of(client: IpAddr) -> IpAddr {
    match client {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
        client => client,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use howdah_wire::rpc::AuthSys;

    #[test]
    fn a_key_tells_what_matters_apart_and_nothing_else() {
        let checksum = Checksum::new([7; 16]);
        let as_user = |machine, user| Credentials::Sys(AuthSys::new(machine, user, 100, &[]));
        let header = CallHeader {
            xid: 1,
            program: 100_003,
            version: 3,
            procedure: 12,
            credentials: as_user(b"host", 1000),
        };
        let client = IpAddr::from([192, 0, 2, 7]);
        let key = checksum.key(client, &header, None, b"name");
        let renamed = CallHeader { credentials: as_user(b"other", 1000), ..header };
        assert_eq!(key, checksum.key(client, &renamed, None, b"name"));

        let long = |last| [vec![0; 9000], vec![last]].concat();
        assert_ne!(
            checksum.key(client, &header, None, &long(1)),
            checksum.key(client, &header, None, &long(2))
        );

        let other_user = CallHeader { credentials: as_user(b"host", 1001), ..header };
        let as_group = |group, groups: &'static [u32]| CallHeader {
            credentials: Credentials::Sys(AuthSys::new(b"host", 1000, group, groups)),
            ..header
        };
        let (other_group, more_groups) = (as_group(101, &[]), as_group(100, &[200]));
        let other_xid = CallHeader { xid: 2, ..header };
        for other in [
            checksum.key(client, &header, None, b"game"),
            checksum.key(client, &header, None, b"names"),
            checksum.key(client, &other_user, None, b"name"),
            checksum.key(client, &other_xid, None, b"name"),
            checksum.key(client, &other_group, None, b"name"),
            checksum.key(client, &more_groups, None, b"name"),
            checksum.key(IpAddr::from([192, 0, 2, 8]), &header, None, b"name"),
            checksum.key(client, &header, Some("alice@EXAMPLE.ORG"), b"name"),
        ] {
            assert_ne!(key, other);
        }
    }

    #[test]
    fn a_network_of_ipv6_is_one_owner() {
        let owner = |client: &str| {
            let header =
                CallHeader { xid: 1, program: 1, version: 1, procedure: 1, credentials: Credentials::None };
            Checksum::new([0; 16]).key(client.parse().expect("an address"), &header, None, b"").owner()
        };
        assert_eq!(owner("2001:db8::1"), owner("2001:db8::ffff:2"));
        assert_ne!(owner("2001:db8::1"), owner("2001:db8:0:1::1"));
        assert_ne!(owner("192.0.2.1"), owner("192.0.2.2"));
    }
}
