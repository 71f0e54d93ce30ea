//! Addresses to listen on.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::path::Path;

use howdah_net::interfaces;

use super::DEFAULT_PORT;

/// Reads `ADDRESS:PORT`, an address (port 2049), or a port (every address).
pub fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    if let Some(scoped) = scoped(text) {
        return scoped;
    }
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Ok(address);
    }
    if let Some(meant) = with_forgotten_brackets(text) {
        return Err(format!("for an address and a port type {meant}, for an address alone [{text}]"));
    }
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    if let Ok(address) = bare.parse::<IpAddr>() {
        return Ok(SocketAddr::new(address, DEFAULT_PORT));
    }
    if let Ok(port) = text.strip_prefix(':').unwrap_or(text).parse::<u16>() {
        return Ok(SocketAddr::new(every_address(), port));
    }
    Err("expected ADDRESS:PORT as in 10.0.0.1:2049 or [::]:2049, an address, or a port from 0 to 65535"
        .to_owned())
}

/// `[::1]:2050` of `::1:2050`: as an address its last group has four decimal digits, as ports of NFS have.
fn with_forgotten_brackets(text: &str) -> Option<String> {
    let (address, port) = text.rsplit_once(':')?;
    let is_port = port.len() >= 4 && port.parse::<u16>().is_ok_and(|port| port >= 1024);
    let address = address.parse::<Ipv6Addr>().ok().filter(|_| is_port)?;
    Some(format!("[{address}]:{port}"))
}

/// An address that an interface goes with: `fe80::1%eth0`, in brackets where a port follows (RFC 4007 11). `None`: it is no such text.
fn scoped(text: &str) -> Option<Result<SocketAddr, String>> {
    let (address, rest) = text.split_once('%')?;
    let (address, zone, after) = match address.strip_prefix('[') {
        Some(address) => rest.split_once(']').map(|(zone, after)| (address, zone, after))?,
        None => (address, rest, ""),
    };
    let address: Ipv6Addr = address.parse().ok()?;
    let port = match after {
        "" => DEFAULT_PORT,
        _ => after.strip_prefix(':')?.parse().ok()?,
    };
    Some(interface(zone).map(|index| SocketAddrV6::new(address, port, 0, index).into()))
}

/// The number of the interface that has this name or number.
fn interface(zone: &str) -> Result<u32, String> {
    let all = interfaces().map_err(|error| format!("listing the interfaces of this host: {error}"))?;
    let named = all.iter().find(|interface| interface.name == zone);
    let numbered = || zone.parse().ok().and_then(|index: u32| all.iter().find(|one| one.index == index));
    named.or_else(numbered).map(|interface| interface.index).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|interface| interface.name.as_str()).collect();
        format!("this host has no interface {zone}; it has {}", names.join(", "))
    })
}

/// Every address of this machine at the usual port.
pub fn default_listen() -> Vec<SocketAddr> {
    vec![SocketAddr::new(every_address(), DEFAULT_PORT)]
}

/// Every address of this machine: `[::]` takes IPv4 too, but does not exist where the kernel runs without IPv6.
pub fn every_address() -> IpAddr {
    if Path::new("/proc/net/if_inet6").exists() {
        Ipv6Addr::UNSPECIFIED.into()
    } else {
        Ipv4Addr::UNSPECIFIED.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_what_people_write() {
        let cases = [
            ("10.0.0.1:3049", "10.0.0.1:3049"),
            ("[::1]:0", "[::1]:0"),
            ("10.0.0.1", "10.0.0.1:2049"),
            ("::1", "[::1]:2049"),
            ("[::1]", "[::1]:2049"),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_listen(text).expect(text).to_string(), expected, "{text}");
        }
        for text in [":3049", "3049"] {
            let address = parse_listen(text).expect(text);
            assert!(address.ip().is_unspecified() && address.port() == 3049, "{text}");
        }
    }

    #[test]
    fn a_port_behind_an_address_of_ipv6_needs_brackets() {
        for text in ["::1:2050", "fd00::1:2050"] {
            let why = parse_listen(text).expect_err(text);
            let (address, port) = text.rsplit_once(':').expect("a colon");
            assert!(why.contains(&format!("type [{address}]:{port}, ")), "{why}");
        }
        for text in ["fd00::2:1", "fd00::abcd", "1:2:3:4:5:6:7:2050", "[::1:2050]"] {
            assert!(parse_listen(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn an_interface_goes_with_an_address_by_name_or_number() {
        let lo = interface("lo").expect("loopback");
        for (text, port) in [
            ("[fe80::1%lo]:3049".to_owned(), 3049),
            ("[fe80::1%lo]".to_owned(), 2049),
            ("fe80::1%lo".to_owned(), 2049),
            (format!("[fe80::1%{lo}]:3049"), 3049),
        ] {
            let address = format!("[fe80::1%{lo}]:{port}");
            assert_eq!(parse_listen(&text).expect(&text).to_string(), address, "{text}");
        }
        for text in ["[fe80::1%eth0x]:2049", "[fe80::1%99999]:2049", "fe80::1%"] {
            let why = parse_listen(text).expect_err(text);
            assert!(why.contains("no interface") && why.contains("it has "), "{why}");
        }
        for text in ["10.0.0.1%lo", "[fe80::1%lo]:x", "[fe80::1%lo:2049", "%lo"] {
            assert!(parse_listen(text).expect_err(text).contains("expected ADDRESS:PORT"), "{text}");
        }
    }

    #[test]
    fn refuses_what_names_no_address() {
        for text in ["", "localhost:2049", "10.0.0.1:65536", "99999", "10.0.0.1:", "eth0"] {
            assert!(parse_listen(text).is_err(), "{text}");
        }
    }
}
