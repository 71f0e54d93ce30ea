//! The clients of an exports file: hosts, networks, wildcards, netgroups, everyone.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use howdah_server::exports::HostPattern;
use ipnet::IpNet;

use crate::ClientPattern;

/// Why howdah has no such clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoSuchClient {
    /// What to do.
    pub what: String,
    /// When Linux looks for them, see [`precedence`]; `None` if no client can be meant.
    pub precedence: Option<u8>,
}

/// When Linux looks for names with wildcards: after networks.
const WILDCARD: u8 = 2;
/// When it looks for netgroups.
const NETGROUP: u8 = 3;
/// When it looks for everyone.
const EVERYONE: u8 = 4;

/// The clients that a word means.
pub fn client(written: &str) -> Result<ClientPattern, NoSuchClient> {
    let no = |precedence, what: &str| Err(NoSuchClient { what: format!("{written}: {what}"), precedence });
    if written.is_empty() || written == "*" {
        return Ok(ClientPattern::Everyone);
    }
    if written.starts_with("gss/") {
        return no(
            Some(EVERYONE),
            "an old form; write *(sec=FLAVOR), with hosts or networks in place of * if you can",
        );
    }
    if let Some((address, mask)) = written.split_once('/') {
        return match network(address, mask) {
            Some(network) => Ok(ClientPattern::Network(network)),
            None => no(None, "not a network; write it like 10.0.0.0/8"),
        };
    }
    let precedence = match written {
        netgroup if netgroup.starts_with('@') => Some(NETGROUP),
        pattern if HostPattern::is_meant(pattern) => Some(WILDCARD),
        _ => None,
    };
    written.parse().or_else(|what: String| no(precedence, &what))
}

/// The order in which Linux looks for a client, whatever the order in the file: hosts, networks, wildcards, netgroups,
/// everyone.
pub fn precedence(client: &ClientPattern) -> u8 {
    match client {
        ClientPattern::Host(_) | ClientPattern::Certificate(_) => 0,
        ClientPattern::Network(network) if network.prefix_len() == network.max_prefix_len() => 0,
        ClientPattern::Network(_) => 1,
        ClientPattern::Hosts(_) => WILDCARD,
        ClientPattern::Netgroup(_) => NETGROUP,
        ClientPattern::Everyone => EVERYONE,
    }
}

/// A network; its mask is a length or an address, and bits beyond it do not count.
fn network(address: &str, mask: &str) -> Option<IpNet> {
    let address: IpAddr = address.parse().ok()?;
    let length = match mask.parse::<u8>() {
        Ok(length) => length,
        Err(_) => mask_length(mask.parse().ok()?)?,
    };
    Some(IpNet::new(address, length).ok()?.trunc())
}

/// The length of a mask whose ones are all in front.
fn mask_length(mask: IpAddr) -> Option<u8> {
    let ones = match mask {
        IpAddr::V4(mask) => mask.to_bits().leading_ones(),
        IpAddr::V6(mask) => mask.to_bits().leading_ones(),
    };
    let same: IpAddr = match mask {
        IpAddr::V4(_) => Ipv4Addr::from_bits(u32::MAX.checked_shl(32 - ones).unwrap_or(0)).into(),
        IpAddr::V6(_) => Ipv6Addr::from_bits(u128::MAX.checked_shl(128 - ones).unwrap_or(0)).into(),
    };
    (mask == same).then_some(u8::try_from(ones).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_that_howdah_has() {
        for (written, expected) in [
            ("", "*"),
            ("*", "*"),
            ("Host.Example", "host.example"),
            ("10.0.0.7", "10.0.0.7"),
            ("fd00::7", "fd00::7"),
            ("10.0.0.0/8", "10.0.0.0/8"),
            ("10.1.2.3/8", "10.0.0.0/8"),
            ("10.0.0.0/255.255.252.0", "10.0.0.0/22"),
            ("10.0.0.0/255.255.255.255", "10.0.0.0"),
            ("0.0.0.0/0", "0.0.0.0/0"),
            ("0.0.0.0/0.0.0.0", "0.0.0.0/0"),
            ("fd00::/ffff::", "fd00::/16"),
            ("fd00::1/64", "fd00::/64"),
            ("@trusted", "@trusted"),
            ("*.Example.org", "*.example.org"),
            ("host[0-9]", "host[0-9]"),
        ] {
            assert_eq!(client(written).expect(written).to_string(), expected, "{written}");
        }
    }

    #[test]
    fn clients_that_howdah_does_not_have() {
        for (written, part) in [
            ("gss/krb5i", "an old form"),
            ("192.168.1.*", "write addresses as a network"),
            ("host[0-", "host name with wildcards"),
            ("10.0.0.0/33", "not a network"),
            ("10.0.0.0/255.0.255.0", "not a network"),
            ("host/24", "not a network"),
            ("-host-", "expected"),
            ("10.0.0", "expected an address"),
        ] {
            let what = client(written).expect_err(written).what;
            assert!(what.contains(part), "{written}: {what}");
        }
    }

    #[test]
    fn clients_are_looked_for_as_linux_does() {
        let of = |written: &str| precedence(&client(written).expect("good"));
        let written = ["a", "10.0.0.7", "10.0.0.0/8", "*.example.org", "@trusted", "*"];
        assert_eq!(written.map(of), [0, 0, 1, 2, 3, 4]);
    }
}
