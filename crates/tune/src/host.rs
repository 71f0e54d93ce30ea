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
pub enum SizingMode {
    /// Buffers are forced to what the path needs.
    Forced,
    /// Buffers are what the kernel gives to everybody.
    Unprivileged,
}

impl Host {
    /// How connections are sized here.
    pub fn mode(&self) -> SizingMode {
        if self.may_force { SizingMode::Forced } else { SizingMode::Unprivileged }
    }

    /// The mode, why, and what would lift it, in a line for the log.
    pub fn explain(&self) -> String {
        let control = if self.has_bbr { "bbr" } else { "this host's congestion control" };
        match self.mode() {
            SizingMode::Forced => format!(
                "connections are sized to their paths, since we have CAP_NET_ADMIN; {control} to other hosts"
            ),
            SizingMode::Unprivileged => format!(
                "connections have the kernel's buffers, at most {} in flight to a client, because CAP_NET_ADMIN is missing; it, or a larger max of net.ipv4.tcp_wmem, lifts the limit; {control} to other hosts",
                howdah_units::size(crate::floor::flight_of(self.send_most()))
            ),
        }
    }

    /// The largest send buffer that can be had here without forcing it.
    pub fn send_most(&self) -> u64 {
        self.send_autotuned_most.max(self.send_unforced_most)
    }
}

/// Linux 6.18 as it comes, with all that it may do: for tests.
#[cfg(test)]
pub(crate) const HOST: Host = Host {
    may_force: true,
    send_autotuned_most: 4 << 20,
    receive_autotuned_most: 32 << 20,
    send_unforced_most: 8 << 20,
    has_bbr: true,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_says_what_it_is_why_and_what_would_lift_it() {
        let host = Host {
            may_force: true,
            send_autotuned_most: 4 << 20,
            receive_autotuned_most: 32 << 20,
            send_unforced_most: 425_984,
            has_bbr: true,
        };
        assert_eq!(
            host.explain(),
            "connections are sized to their paths, since we have CAP_NET_ADMIN; bbr to other hosts"
        );
        let ordinary = Host { may_force: false, has_bbr: false, ..host }.explain();
        assert!(
            ordinary.contains("at most 2.8 MB in flight to a client, because CAP_NET_ADMIN is missing"),
            "{ordinary}"
        );
        assert!(
            ordinary.ends_with("lifts the limit; this host's congestion control to other hosts"),
            "{ordinary}"
        );
    }
}
