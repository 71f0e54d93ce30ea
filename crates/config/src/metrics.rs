//! Where monitors may ask for metrics, and how many they get.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Clients with figures of their own, at most: each is a hundred bytes of every answer, and a series for ever in a monitor.
pub const MOST_METRICS_CLIENTS: u64 = 1000;

/// What monitors are offered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Where, over TCP.
    pub address: Option<SocketAddr>,
    /// So many clients have figures of their own.
    pub clients: usize,
}

/// What was said of it; what was not is empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MetricsSaid {
    /// Where, over TCP.
    pub address: Option<SocketAddr>,
    /// So many clients have figures of their own.
    pub clients: Option<usize>,
}

impl MetricsSaid {
    /// This, or else what another one says.
    pub fn or(self, other: Self) -> Self {
        Self { address: self.address.or(other.address), clients: self.clients.or(other.clients) }
    }

    /// What holds.
    pub fn decide(self) -> Metrics {
        Metrics { address: self.address, clients: self.clients.unwrap_or_default() }
    }
}

/// Reads an address and a port, or a port, of this host alone.
pub fn parse_metrics(text: &str) -> Result<SocketAddr, String> {
    let port = || text.strip_prefix(':').unwrap_or(text).parse::<u16>();
    let at = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let address = text.parse::<SocketAddr>().or_else(|_| port().map(at)).map_err(|_| {
        "expected ADDRESS:PORT as in 127.0.0.1:9049 or [::1]:9049, or a port of 127.0.0.1".to_owned()
    })?;
    match address.ip().is_loopback() {
        true => Ok(address),
        false => Err(format!(
            "{} is reached by other hosts, and figures would go there in the clear, to anybody. Name an address of loopback, as \
             in 127.0.0.1:{}, or let admin_listen (--admin-listen) answer /metrics there, with TLS and a token",
            address.ip(),
            address.port()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_stay_on_this_host() {
        let read = |text: &str| parse_metrics(text).map(|address| address.to_string());
        assert_eq!(read("127.0.0.1:9049").as_deref(), Ok("127.0.0.1:9049"));
        assert_eq!(read("[::1]:9049").as_deref(), Ok("[::1]:9049"));
        assert_eq!(read("9049").as_deref(), Ok("127.0.0.1:9049"));
        for outside in ["0.0.0.0:9049", "[::]:9049", "10.0.0.1:9049", "[::ffff:10.0.0.1]:9049"] {
            assert!(read(outside).is_err_and(|why| why.contains("admin_listen")), "{outside}");
        }
        assert!(read("monitor:9049").is_err_and(|why| why.contains("expected")));
    }
}
