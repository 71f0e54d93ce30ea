//! Where a channel leads to.

use std::net::SocketAddr;

/// A server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Where the program is served. Several are several addresses of one server: lanes are spread over them.
    pub addresses: Vec<SocketAddr>,
    /// How messages travel.
    pub transport: Transport,
}

/// How messages travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Transport {
    /// Records on streams.
    #[default]
    Tcp,
    /// Datagrams, sent again when no answer comes.
    Udp,
}
