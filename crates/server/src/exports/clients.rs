//! Who a rule is for, and what it lets them do. Single host names were looked up before; what names many is judged by the name of the
//! client.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use super::{CertificatePattern, HostDirectory, HostPattern, NameVerdict, Netgroup, SecurityFlavors};
use crate::Peer;

/// What clients from certain addresses may do, and as which user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientRule {
    /// The clients that it is for.
    pub clients: Clients,
    /// Whether every change is refused.
    pub read_only: bool,
    /// Whose calls act as the anonymous user.
    pub squash: Squash,
    /// The anonymous user.
    pub anonymous: Anonymous,
    /// Which calls must come from a port below 1024, which on the client only its root can use. Calls of Kerberos may come from any.
    pub privileged_ports: PrivilegedPorts,
    /// How calls prove who sent them: these flavors are taken, and listed to clients in this order.
    pub sec: SecurityFlavors,
}

/// Which calls must come from a port below 1024.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PrivilegedPorts {
    /// None.
    #[default]
    Never,
    /// Those from the server's own host, whose users could else call as any other user of it.
    Local,
    /// All.
    Always,
}

/// A set of clients, by address, name or certificate. An IPv4 address and the same one mapped into IPv6 are the same here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clients {
    /// Everybody.
    Any,
    /// All addresses that start like this one.
    Network {
        /// An address of the network.
        address: IpAddr,
        /// How many bits of it count.
        prefix: u8,
    },
    /// These.
    Addresses(Vec<IpAddr>),
    /// Those whose name is of this form, and leads back to their address.
    Hosts(HostPattern),
    /// The members of a netgroup, by their addresses or by names that lead back to them.
    Netgroup(Arc<Netgroup>),
    /// Those that prove by TLS that they have such a certificate, whatever their address.
    Certificate(CertificatePattern),
}

/// Whose calls act as the anonymous user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Squash {
    /// Those of the client's superuser.
    #[default]
    Root,
    /// Everybody's.
    All,
    /// Nobody's but those without an identity.
    None,
    /// All calls act as the user that the client's certificate names; as the anonymous user, if it names none or root.
    Certificate,
}

/// The user that calls without an identity of their own act as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anonymous {
    /// User id.
    pub user: u32,
    /// Group id.
    pub group: u32,
}

impl Default for Anonymous {
    /// `nobody` and `nogroup` of Linux.
    fn default() -> Self {
        Self { user: 65_534, group: 65_534 }
    }
}

impl Default for ClientRule {
    /// Everybody may read and write, root as nobody.
    fn default() -> Self {
        Self {
            clients: Clients::Any,
            read_only: false,
            squash: Squash::default(),
            anonymous: Anonymous::default(),
            privileged_ports: PrivilegedPorts::default(),
            sec: SecurityFlavors::default(),
        }
    }
}

impl ClientRule {
    /// Whether it is for this client, whose name is looked up here if it matters.
    pub fn judge(&self, peer: &Peer, hosts: Option<&HostDirectory>) -> NameVerdict {
        self.clients.judge(peer, hosts)
    }

    /// Whether it may take the name of a client to judge.
    pub(super) fn asks_name(&self) -> bool {
        matches!(self.clients, Clients::Hosts(_) | Clients::Netgroup(_))
    }

    /// Whether it is for clients that show a certificate.
    pub(super) fn asks_certificate(&self) -> bool {
        matches!(self.clients, Clients::Certificate(_))
    }
}

impl Clients {
    /// Whether a client is among them, whose name is looked up here if it matters.
    pub fn judge(&self, peer: &Peer, hosts: Option<&HostDirectory>) -> NameVerdict {
        let client = peer.ends.client.ip();
        let by_name = |is_meant: &dyn Fn(&str) -> bool| {
            hosts.map_or(NameVerdict::Unknown, |hosts| hosts.judge(client, is_meant))
        };
        let fits = match self {
            Self::Certificate(pattern) => peer.certificate.as_ref().is_some_and(|shown| pattern.takes(shown)),
            Self::Hosts(pattern) => return by_name(&|name| pattern.takes(name)),
            Self::Netgroup(group) if group.takes_address(client) => true,
            Self::Netgroup(group) if group.hosts.is_empty() => false,
            Self::Netgroup(group) => return by_name(&|name| group.takes_name(name)),
            clients => clients.contains(client),
        };
        if fits { NameVerdict::Fits } else { NameVerdict::Other }
    }

    /// Whether this address is among them, if neither a name nor a certificate decides.
    pub fn contains(&self, client: IpAddr) -> bool {
        let client = client.to_canonical();
        match self {
            Self::Any => true,
            Self::Certificate(_) | Self::Hosts(_) => false,
            Self::Netgroup(group) => group.takes_address(client),
            Self::Addresses(addresses) => addresses.iter().any(|address| address.to_canonical() == client),
            Self::Network { address, prefix } => match (address, client) {
                (IpAddr::V4(network), IpAddr::V4(client)) => {
                    same_start(network.to_bits().into(), client.to_bits().into(), 32, *prefix)
                }
                (IpAddr::V6(network), IpAddr::V6(client)) => {
                    same_start(network.to_bits(), client.to_bits(), 128, *prefix)
                }
                // `::ffff:192.0.2.0/120` is a way to write 192.0.2.0/24; a network in which such addresses are but a part, as in `::/0`,
                // is one of IPv6.
                (IpAddr::V6(network), IpAddr::V4(client)) => {
                    *prefix >= MAPPED
                        && same_start(network.to_bits(), client.to_ipv6_mapped().to_bits(), 128, *prefix)
                }
                (IpAddr::V4(_), IpAddr::V6(_)) => false,
            },
        }
    }
}

/// What all IPv4 addresses mapped into IPv6 have in common, in bits (RFC 4291 section 2.5.5.2).
const MAPPED: u8 = 96;

/// Whether two numbers of `width` bits agree in the first `prefix` of them.
fn same_start(one: u128, other: u128, width: u32, prefix: u8) -> bool {
    let ignored = width.saturating_sub(prefix.into());
    (one ^ other).checked_shr(ignored).unwrap_or(0) == 0
}

impl fmt::Display for Clients {
    /// As `showmount -e` shows them.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => formatter.write_str("*"),
            Self::Network { address, prefix } => write!(formatter, "{address}/{prefix}"),
            Self::Certificate(pattern) => pattern.fmt(formatter),
            Self::Hosts(pattern) => pattern.fmt(formatter),
            Self::Netgroup(group) => write!(formatter, "@{}", group.name),
            Self::Addresses(addresses) => {
                for (position, address) in addresses.iter().enumerate() {
                    let comma = if position == 0 { "" } else { "," };
                    write!(formatter, "{comma}{address}")?;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_apart() {
        let network =
            |text: &str, prefix| Clients::Network { address: text.parse().expect("address"), prefix };
        let list = |text: &str| Clients::Addresses(vec![text.parse().expect("address")]);
        for (clients, client, expected) in [
            (Clients::Any, "192.0.2.1", true),
            (Clients::Any, "2001:db8::1", true),
            (network("192.0.2.0", 24), "192.0.2.255", true),
            (network("192.0.2.0", 24), "192.0.3.0", false),
            (network("192.0.2.77", 24), "192.0.2.1", true),
            (network("192.0.2.1", 32), "192.0.2.1", true),
            (network("192.0.2.1", 32), "192.0.2.0", false),
            (network("0.0.0.0", 0), "203.0.113.9", true),
            (network("0.0.0.0", 0), "2001:db8::1", false),
            (network("::", 0), "2001:db8::1", true),
            (network("::", 0), "192.0.2.1", false),
            (network("::ffff:0.0.0.0", 96), "192.0.2.1", true),
            (network("2001:db8::", 32), "2001:db8:ffff::1", true),
            (network("2001:db8::", 32), "2001:db9::1", false),
            (network("192.0.2.0", 24), "::ffff:192.0.2.9", true),
            (network("::ffff:192.0.2.0", 120), "192.0.2.9", true),
            (network("::ffff:192.0.2.0", 120), "192.0.3.9", false),
            (list("192.0.2.1"), "::ffff:192.0.2.1", true),
            (list("::ffff:192.0.2.1"), "192.0.2.1", true),
            (list("192.0.2.1"), "192.0.2.2", false),
            (list("2001:db8::1"), "2001:db8::1", true),
        ] {
            let address = client.parse().expect("address");
            assert_eq!(clients.contains(address), expected, "{client} in {clients}");
        }
    }
}
