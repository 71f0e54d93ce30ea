//! How connections are sized: automatically, unless somebody says otherwise.

use std::io;

use howdah_tune::budget::{Budget, HostMemory};
use howdah_tune::host::{Host, SizingMode};
use howdah_tune::{Algorithm, Own, Setting, Settings};

use super::NetworkSizes;

/// What an administrator may say about the sizes of connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tuning {
    /// Without it, sockets stay as the kernel makes them, and nobody looks at them.
    pub enabled: bool,
    /// The send buffer of each connection (`tcp_sndbuf`).
    pub send_buffer: Setting,
    /// The receive buffer of each connection (`tcp_rcvbuf`).
    pub receive_buffer: Setting,
    /// By what each connection sends (`tcp_congestion`); automatic: by what suits its peer.
    pub congestion: Setting<Algorithm>,
    /// The memory of all connections in the kernel (`memory_budget`), in bytes.
    pub memory_budget: Setting,
    /// What holds for clients of some networks instead (`[[network]]`); the first entry that fits a client.
    pub networks: Vec<NetworkSizes>,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            enabled: true,
            send_buffer: Setting::Auto,
            receive_buffer: Setting::Auto,
            congestion: Setting::Auto,
            memory_budget: Setting::Auto,
            networks: Vec::new(),
        }
    }
}

impl Tuning {
    /// The same on this host.
    ///
    /// # Errors
    /// No socket can be made.
    pub fn on_this_host(&self) -> io::Result<Settings> {
        Ok(self.on(howdah_net::probe_host()?, howdah_net::memory_limits()))
    }

    /// What was asked for and cannot be had on a host, in words.
    pub fn unmet(&self, host: &Host) -> Option<String> {
        let fixed = |setting| matches!(setting, Setting::Fixed(_));
        let own = |of: fn(&Own) -> Option<Setting>| {
            self.networks.iter().filter_map(move |network| of(&network.own))
        };
        let sends = own(|own| own.send_buffer).chain([self.send_buffer]).any(fixed);
        let receives = own(|own| own.receive_buffer).chain([self.receive_buffer]).any(fixed);
        match (host.mode(), sends, receives) {
            (SizingMode::Forced, ..) | (_, false, false) => None,
            (SizingMode::Unprivileged, _, true) => Some(
                "tcp_rcvbuf: without CAP_NET_ADMIN receive buffers stay as the kernel makes them".to_owned(),
            ),
            (SizingMode::Unprivileged, true, false) => Some(format!(
                "tcp_sndbuf: without CAP_NET_ADMIN send buffers are at most {} bytes (twice net.core.wmem_max)",
                host.send_unforced_most
            )),
        }
    }

    fn on(&self, host: Host, memory: HostMemory) -> Settings {
        let budget = Budget::set(self.memory_budget, &memory);
        Settings {
            budget,
            send_buffer: self.send_buffer,
            receive_buffer: self.receive_buffer,
            congestion: self.congestion,
            ..Settings::automatic(host, memory)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_cannot_be_had_are_said() {
        let host = Host {
            may_force: false,
            send_autotuned_most: 4 << 20,
            receive_autotuned_most: 32 << 20,
            send_unforced_most: 425_984,
            has_bbr: true,
        };
        let fixed = |send_buffer, receive_buffer| Tuning { send_buffer, receive_buffer, ..Tuning::default() };
        let size = Setting::Fixed(16 << 20);
        assert_eq!(fixed(Setting::Auto, Setting::Auto).unmet(&host), None);
        let said = fixed(size, Setting::Auto).unmet(&host).expect("it is not all that was asked for");
        assert!(said.contains("at most 425984 bytes"), "{said}");
        let said = fixed(Setting::Auto, size).unmet(&host).expect("it cannot be had");
        assert!(said.starts_with("tcp_rcvbuf: "), "{said}");
        let privileged = Host { may_force: true, ..host };
        assert_eq!(fixed(size, size).unmet(&privileged), None);
    }
}
