//! How a client is named: its address, or one connection of it.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// A client, or one of its connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientName {
    /// All of its connections.
    Address(IpAddr),
    /// That one.
    Connection(SocketAddr),
}

impl ClientName {
    /// Whether it means a connection from there.
    pub fn means(self, client: SocketAddr) -> bool {
        match self {
            Self::Address(address) => client.ip() == address,
            Self::Connection(connection) => client == connection,
        }
    }
}

impl std::fmt::Display for ClientName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Connection(connection) => connection.fmt(f),
        }
    }
}

impl FromStr for ClientName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bare = text.trim_start_matches('[').trim_end_matches(']');
        let address = bare.parse::<IpAddr>().map(|address| Self::Address(address.to_canonical()));
        let connection = || {
            let connection = text.parse::<SocketAddr>()?;
            Ok(Self::Connection(SocketAddr::new(connection.ip().to_canonical(), connection.port())))
        };
        address.or_else(|_| connection()).map_err(|_: std::net::AddrParseError| {
            "expected an address, as in 10.0.0.7 or fd00::7, or one with a port, as in 10.0.0.7:1022"
                .to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_or_one_connection() {
        let means = |name: &str, client: &str| {
            let client = client.parse().expect("an address");
            name.parse::<ClientName>().expect("a name").means(client)
        };
        assert!(means("10.0.0.7", "10.0.0.7:99") && means("10.0.0.7:99", "10.0.0.7:99"));
        assert!(!means("10.0.0.7:98", "10.0.0.7:99") && !means("10.0.0.8", "10.0.0.7:99"));
        assert!(
            means("fd00::7", "[fd00::7]:9")
                && means("[fd00::7]", "[fd00::7]:9")
                && means("[fd00::7]:9", "[fd00::7]:9")
        );
        assert!(means("::ffff:10.0.0.7", "10.0.0.7:99"));
        assert!("client.example.org".parse::<ClientName>().is_err());
    }
}
