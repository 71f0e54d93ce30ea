//! Where a channel leads to.

use std::net::SocketAddr;

use howdah_net::Transport;

/// A server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Where the program is served. Several are several addresses of one server: lanes are spread over them.
    pub addresses: Vec<SocketAddr>,
    /// How messages travel.
    pub transport: Transport,
}
