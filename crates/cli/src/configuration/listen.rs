//! Addresses to listen on.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use super::DEFAULT_PORT;

/// Reads `ADDRESS:PORT`, an address (port 2049), or a port (every address).
pub fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Ok(address);
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
    fn refuses_what_names_no_address() {
        for text in ["", "localhost:2049", "10.0.0.1:65536", "99999", "10.0.0.1:", "eth0"] {
            assert!(parse_listen(text).is_err(), "{text}");
        }
    }
}
