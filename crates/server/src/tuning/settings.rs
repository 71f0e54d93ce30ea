//! How connections are sized: automatically, unless somebody says otherwise.

use std::io;

use howdah_tune::budget::{Budget, HostMemory};
use howdah_tune::host::Host;
use howdah_tune::{Setting, Settings};

/// What an administrator may say about the sizes of connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tuning {
    /// Without it, sockets stay as the kernel makes them, and nobody looks at them.
    pub enabled: bool,
    /// The send buffer of each connection (`tcp_sndbuf`).
    pub send_buffer: Setting,
    /// The receive buffer of each connection (`tcp_rcvbuf`).
    pub receive_buffer: Setting,
    /// The memory of all connections in the kernel (`memory_budget`), in bytes.
    pub memory_budget: Option<u64>,
}

impl Default for Tuning {
    fn default() -> Self {
        Self { enabled: true, send_buffer: Setting::Auto, receive_buffer: Setting::Auto, memory_budget: None }
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

    fn on(&self, host: Host, memory: HostMemory) -> Settings {
        let budget = self.memory_budget.map_or_else(|| Budget::of(&memory), Budget::fixed);
        Settings {
            budget,
            send_buffer: self.send_buffer,
            receive_buffer: self.receive_buffer,
            ..Settings::automatic(host, memory)
        }
    }
}
