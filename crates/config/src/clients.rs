//! Which clients a rule is about.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use howdah_server::exports::{CertificatePattern, HostPattern};
use ipnet::IpNet;

use super::ClientAccess;

/// Longest host name (RFC 1035 2.3.4).
const LONGEST_HOST: usize = 253;

/// One rule of an export: these clients may do that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientRuleConfig {
    /// The clients that it is about.
    pub who: ClientPattern,
    /// What they may do.
    pub access: ClientAccess,
}

/// Some clients, as they are written: `*`, an address, a network, a host name, names with wildcards, a netgroup, or a kind of
/// certificates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientPattern {
    /// `*`
    Everyone,
    /// An address is the network of itself.
    Network(IpNet),
    /// A host name, to be looked up.
    Host(String),
    /// Host names with wildcards: clients are judged by their names.
    Hosts(HostPattern),
    /// A netgroup, without its `@`: the same.
    Netgroup(String),
    /// Those that show such a certificate.
    Certificate(CertificatePattern),
}

impl ClientPattern {
    /// Whether each client of the other one is of this one, as far as their text shows.
    pub fn takes(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Everyone, _) => true,
            (Self::Network(network), Self::Network(other)) => network.contains(other),
            (Self::Host(name), Self::Host(other)) | (Self::Netgroup(name), Self::Netgroup(other)) => {
                name == other
            }
            (Self::Hosts(pattern), Self::Hosts(other)) => pattern == other,
            (Self::Certificate(pattern), Self::Certificate(other)) => pattern.covers(other),
            _ => false,
        }
    }

    /// Whether a client of the other one may be of this one; names may have any address.
    pub fn may_take(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Network(_), Self::Network(_)) | (Self::Host(_), Self::Host(_)) => self.takes(other),
            _ => true,
        }
    }
}

impl FromStr for ClientPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "*" {
            return Ok(Self::Everyone);
        }
        if CertificatePattern::is_meant(text) {
            return text.parse().map(Self::Certificate);
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Self::Network(address.to_canonical().into()));
        }
        if text.contains('/') || text.contains(':') {
            return match text.parse::<IpNet>() {
                Ok(network) if network == network.trunc() => Ok(Self::Network(network)),
                Ok(network) => {
                    Err(format!("the network is written {} (its host bits are zero)", network.trunc()))
                }
                Err(_) => Err("expected a network like 10.0.0.0/8 or fd00::/8".to_owned()),
            };
        }
        if let Some(name) = text.strip_prefix('@') {
            let is_good = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
            return match !name.is_empty() && name.bytes().all(is_good) {
                true => Ok(Self::Netgroup(name.to_owned())),
                false => Err("expected a netgroup like @trusted".to_owned()),
            };
        }
        if HostPattern::is_meant(text) {
            return text.parse().map(Self::Hosts);
        }
        if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            return Err("expected an address like 10.0.0.1 or a network like 10.0.0.0/8".to_owned());
        }
        if is_host_name(text) {
            return Ok(Self::Host(text.to_ascii_lowercase()));
        }
        Err("expected *, an address, a network like 10.0.0.0/8, a host name, *.DOMAIN, @NETGROUP, or cert:NAME".to_owned())
    }
}

/// Whether this can be a host's name (RFC 1123 2.1, and `_` because people use it).
fn is_host_name(text: &str) -> bool {
    let text = text.strip_suffix('.').unwrap_or(text);
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.len() <= LONGEST_HOST && text.split('.').all(label)
}

impl fmt::Display for ClientPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Everyone => f.write_str("*"),
            Self::Network(network) if network.prefix_len() == network.max_prefix_len() => {
                network.addr().fmt(f)
            }
            Self::Network(network) => network.fmt(f),
            Self::Host(name) => f.write_str(name),
            Self::Hosts(pattern) => pattern.fmt(f),
            Self::Netgroup(name) => write!(f, "@{name}"),
            Self::Certificate(pattern) => pattern.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_kind_and_writes_it_back() {
        for text in [
            "*",
            "10.1.2.3",
            "10.0.0.0/8",
            "fd00::/8",
            "::1",
            "host",
            "a-1.example.org",
            "cert:*.example.org",
            "*.example.org",
            "node[0-9].example.org",
            "@trusted",
        ] {
            assert_eq!(text.parse::<ClientPattern>().expect(text).to_string(), text);
        }
        assert_eq!("::ffff:10.0.0.1".parse::<ClientPattern>().expect("mapped").to_string(), "10.0.0.1");
    }

    #[test]
    fn refuses_with_a_reason() {
        let cases = [
            ("10.1.2.3/8", "the network is written 10.0.0.0/8"),
            ("10.0.0.0/33", "expected a network"),
            ("10.0.0", "expected an address"),
            ("cert:", "cert:NAME"),
            ("300.1.1.1", "expected an address"),
            ("192.168.1.*", "write addresses as a network"),
            ("host[9-0]", "host name with wildcards"),
            ("@", "netgroup"),
            ("@a b", "netgroup"),
            ("", "expected"),
            ("a b", "expected *"),
            ("-a.example.org", "expected *"),
        ];
        for (text, reason) in cases {
            let error = text.parse::<ClientPattern>().expect_err(text);
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
