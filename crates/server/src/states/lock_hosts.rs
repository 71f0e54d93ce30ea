//! Hosts that lock files by NLM: what is remembered of them over a restart, and what they said last.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;

use crate::locks::Mutex;
use howdah_state::HostId;

use crate::exports::UNPRIVILEGED_PORTS;
use crate::limits::HOSTS_OF_ADDRESS_MAX;
use crate::room::one_client;
use crate::{Ends, Peer, Transport};

/// A host that locks files by NLM, as it is remembered over a restart. One that mounts two addresses of this server is two: each
/// has its own locks, and is called back from the address that it knows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LockHost {
    /// The name by which it calls itself.
    pub name: Box<[u8]>,
    /// Where its calls come from.
    pub client: IpAddr,
    /// Our address that it calls.
    pub server: IpAddr,
}

/// What a host said last.
#[derive(Debug, Clone)]
pub struct KnownHost {
    /// The host.
    pub host: LockHost,
    /// How its calls come.
    pub transport: Transport,
    /// Whether it locks from a port below 1024, which on the host only its root can use.
    pub privileged: bool,
    /// The state number of its status monitor: another one after a restart. `None`: it did not say.
    pub number: Option<u32>,
}

/// The hosts that have something, or asked for it lately.
#[derive(Debug, Default)]
pub struct LockHosts {
    known: Mutex<KnownHosts>,
}

#[derive(Debug, Default)]
struct KnownHosts {
    by_id: HashMap<HostId, KnownHost>,
    /// How many have each network.
    of_network: HashMap<IpAddr, usize>,
}

impl LockHost {
    /// The host of this name at the other end.
    pub fn new(name: &[u8], ends: &Ends) -> Self {
        let [client, server] = [ends.client, ends.server].map(|end| end.ip().to_canonical());
        Self { name: name.into(), client, server }
    }

    /// As it is remembered: two addresses and the name, with spaces between.
    pub fn to_bytes(&self) -> Vec<u8> {
        [format!("{} {} ", self.client, self.server).as_bytes(), &self.name].concat()
    }

    /// What was remembered.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut words = bytes.splitn(3, |byte| *byte == b' ');
        let mut address = || std::str::from_utf8(words.next()?).ok()?.parse().ok();
        let (client, server) = (address()?, address()?);
        Some(Self { client, server, name: words.next()?.into() })
    }

    /// Whether a host at this address that calls itself so is this one. A host may send its name with its domain here, and
    /// without it there.
    pub fn is(&self, name: &[u8], client: IpAddr) -> bool {
        self.client == client && are_names_of_one(&self.name, name)
    }
}

impl KnownHost {
    /// Whether a call of this peer may let go of what the host has: an ordinary user of the host must not, where its root locks.
    pub fn takes(&self, peer: &Peer) -> bool {
        !self.privileged || is_privileged(peer)
    }
}

fn is_privileged(peer: &Peer) -> bool {
    peer.ends.client.port() < UNPRIVILEGED_PORTS
}

impl LockHosts {
    /// Whether one more host may have this address. A client cannot fill the table with made-up names, or addresses of its network.
    pub fn has_room(&self, client: IpAddr) -> bool {
        let of_network = &self.known.lock().of_network;
        of_network.get(&one_client(client)).is_none_or(|count| *count < HOSTS_OF_ADDRESS_MAX)
    }

    /// Notes what a host said with a lock.
    pub fn note(&self, id: HostId, host: &LockHost, peer: &Peer, number: Option<u32>) {
        let KnownHosts { by_id, of_network } = &mut *self.known.lock();
        let (transport, privileged) = (peer.transport, is_privileged(peer));
        let known = by_id.entry(id).or_insert_with(|| {
            *of_network.entry(one_client(host.client)).or_default() += 1;
            KnownHost { host: host.clone(), transport, privileged, number: None }
        });
        known.transport = transport;
        known.privileged |= privileged;
        known.number = number.or(known.number);
    }

    /// A host.
    pub fn get(&self, id: HostId) -> Option<KnownHost> {
        self.known.lock().by_id.get(&id).cloned()
    }

    /// The hosts at this address that call themselves so.
    pub fn named(&self, name: &[u8], client: IpAddr) -> Vec<(HostId, KnownHost)> {
        let hosts = self.known.lock();
        let named = hosts.by_id.iter().filter(|(_, known)| known.host.is(name, client));
        named.map(|(id, known)| (*id, known.clone())).collect()
    }

    /// A host has nothing any more.
    pub fn remove(&self, id: HostId) {
        let KnownHosts { by_id, of_network } = &mut *self.known.lock();
        let Some(known) = by_id.remove(&id) else { return };
        if let Entry::Occupied(mut count) = of_network.entry(one_client(known.host.client)) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}

fn are_names_of_one(one: &[u8], other: &[u8]) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let (start, rest) = long.split_at(short.len());
    start.eq_ignore_ascii_case(short)
        && (rest.is_empty() || (!short.is_empty() && !short.contains(&b'.') && rest.starts_with(b".")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calling::peer;

    fn host(name: &str, client: &str) -> LockHost {
        let address = |text: &str| text.parse().expect("an address");
        LockHost { name: name.as_bytes().into(), client: address(client), server: address("fd01::1") }
    }

    #[test]
    fn it_is_remembered_whole() {
        for host in [host("a host", "192.0.2.1"), host("", "fd01::2"), host("\u{e9}", "192.0.2.1")] {
            assert_eq!(LockHost::parse(&host.to_bytes()), Some(host));
        }
        for wrong in [&b""[..], b"192.0.2.1", b"192.0.2.1 name", b"192.0.2.1 192.0.2.2", b"a b c"] {
            assert_eq!(LockHost::parse(wrong), None);
        }
    }

    #[test]
    fn one_address_has_only_so_many_hosts() {
        let (hosts, one) = (LockHosts::default(), host("one", "fd02::1"));
        let peer = peer("[fd02::1]:700", "[fd01::1]:2049", Transport::Tcp);
        let [neighbour, other] =
            ["fd02::1:2:3:4", "fd02:0:0:1::1"].map(|text| text.parse().expect("an address"));
        let id = |number: usize| HostId(u32::try_from(number).expect("small"));
        for number in 0..HOSTS_OF_ADDRESS_MAX {
            assert!(hosts.has_room(one.client));
            (0..2).for_each(|_| hosts.note(id(number), &one, &peer, None));
        }
        assert!(!hosts.has_room(one.client) && hosts.has_room(one.server));
        assert!(!hosts.has_room(neighbour) && hosts.has_room(other), "64 bits are one client");
        (0..2).for_each(|_| hosts.remove(id(0)));
        assert!(hosts.has_room(one.client));
        (1..HOSTS_OF_ADDRESS_MAX).for_each(|number| hosts.remove(id(number)));
        assert!(hosts.known.lock().of_network.is_empty());
    }

    #[test]
    fn its_name_and_its_address_must_both_fit() {
        let host = host("client.example.org", "192.0.2.1");
        let is = |name: &str, client: &str| host.is(name.as_bytes(), client.parse().expect("an address"));
        assert!(is("client.example.org", "192.0.2.1") && is("Client", "192.0.2.1"));
        assert!(!is("client", "192.0.2.2"), "another address");
        for other in ["client.example", "clien", "", "client.example.org.net", "other"] {
            assert!(!is(other, "192.0.2.1"), "{other}");
        }
    }
}
