//! A host's kernel.

use serde::{Deserialize, Serialize};

/// Settings and state of a kernel.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostFacts {
    /// Its release.
    pub kernel: Option<String>,
    /// The three figures of `net.ipv4.tcp_rmem`.
    pub tcp_receive: Option<[u64; 3]>,
    /// The three figures of `net.ipv4.tcp_wmem`.
    pub tcp_send: Option<[u64; 3]>,
    /// `net.core.rmem_max`.
    pub receive_most: Option<u64>,
    /// `net.core.wmem_max`.
    pub send_most: Option<u64>,
    /// Datagrams that the host received, and of those that it dropped because the receiving socket was full.
    pub datagrams: Option<DatagramCounts>,
    /// `net.ipv4.tcp_window_scaling`.
    pub window_scaling: Option<bool>,
    /// `net.ipv4.tcp_sack`.
    pub selective_acknowledgements: Option<bool>,
    /// `net.ipv4.tcp_moderate_rcvbuf`: whether receive buffers grow by themselves.
    pub moderates_receive: Option<bool>,
    /// `net.ipv4.tcp_mtu_probing`: 0 never, 1 after a black hole was met, 2 always.
    pub mtu_probing: Option<u64>,
    /// `net.ipv4.tcp_congestion_control`.
    pub congestion_control: Option<String>,
    /// Those that there are.
    pub congestion_controls: Vec<String>,
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// Bytes of it that programs could have.
    pub memory_available: Option<u64>,
    /// Bytes that all TCP sockets hold.
    pub tcp_memory: Option<u64>,
    /// Beyond so many bytes the kernel takes windows back (the second figure of `net.ipv4.tcp_mem`).
    pub tcp_memory_pressure: Option<u64>,
    /// Open files of the whole host.
    pub files: Option<Table>,
    /// Connections that the firewall follows.
    pub conntrack: Option<Table>,
    /// `sunrpc.tcp_max_slot_table_entries`: calls that a mount of the kernel may have in flight.
    pub slots_most: Option<u64>,
    /// Servers of howdah on this host that cannot write records of their clients: which, and why.
    pub unwritable: Vec<String>,
}

/// Datagrams since the host started (`/proc/net/snmp`, `InDatagrams` and `RcvbufErrors` of UDP).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatagramCounts {
    /// Those that reached a program.
    pub received: u64,
    /// Those that found no room.
    pub dropped: u64,
}

/// Something that can be full.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// Entries.
    pub used: u64,
    /// The most of them.
    pub most: u64,
}

impl Table {
    /// The part that is used.
    pub fn share(&self) -> f64 {
        self.used as f64 / self.most.max(1) as f64
    }
}
