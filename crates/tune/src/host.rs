//! What this host lets us do, as probed once at start: capabilities are tried, versions of kernels are not looked at.

/// Limits of the host, and what we may exceed. Bytes are as the kernel counts them (`sk_sndbuf`, `sk_rcvbuf`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// `SO_SNDBUFFORCE` and `SO_RCVBUFFORCE` work (`CAP_NET_ADMIN`).
    pub may_force: bool,
    /// Where a send buffer stops to grow by itself (`net.ipv4.tcp_wmem`, third figure).
    pub send_autotuned_most: u64,
    /// Where a receive buffer stops to grow by itself (`net.ipv4.tcp_rmem`, third figure).
    pub receive_autotuned_most: u64,
    /// The most that `SO_SNDBUF` gives without privilege: twice `net.core.wmem_max`.
    pub send_unforced_most: u64,
    /// BBR can be chosen per socket.
    pub has_bbr: bool,
}

/// How connections are sized on this host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Buffers are forced to what the path needs.
    Forced,
    /// Buffers are what the kernel gives to everybody; more lanes make up for it.
    Unprivileged,
}

impl Host {
    /// How connections are sized here.
    pub fn mode(&self) -> Mode {
        if self.may_force { Mode::Forced } else { Mode::Unprivileged }
    }

    /// The mode, why, and what would lift it, in a line for the log.
    pub fn explain(&self) -> String {
        match self.mode() {
            Mode::Forced => {
                "buffers: sized per connection, to what its path needs (CAP_NET_ADMIN)".to_owned()
            }
            Mode::Unprivileged => format!(
                "buffers: the kernel's own, at most {} MB in flight to a client (no CAP_NET_ADMIN); \
                 CAP_NET_ADMIN, or a larger third figure of net.ipv4.tcp_wmem, lifts that",
                crate::floor::flight_of(self.send_most()) / 1_000_000
            ),
        }
    }

    /// The largest send buffer that can be had here without forcing it.
    pub fn send_most(&self) -> u64 {
        self.send_autotuned_most.max(self.send_unforced_most)
    }
}
