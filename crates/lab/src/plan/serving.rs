//! The server of a cell as a plan writes it, and what happens to it while clients work.

use serde::{Deserialize, Serialize};

use super::Time;

/// `[cell.server]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerSpec {
    /// What serves.
    pub kind: ServerKind,
    /// The host it runs on; of `heads`, the host of their storage.
    pub host: String,
    /// The hosts of `heads`.
    pub heads: Vec<String>,
    /// More flags for it.
    pub options: Vec<String>,
    /// `howdah` has a certificate, so that clients may call by TLS and QUIC: those with a URL trust it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tls: bool,
    /// Where the files are.
    pub export: ExportKind,
}

/// What serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ServerKind {
    /// `howdah serve`, of this very program.
    Howdah,
    /// NFS-Ganesha.
    Ganesha,
    /// The Linux kernel's server.
    Kernel,
    /// `iperf3 -s`.
    Iperf3,
    /// `rsync --daemon`.
    Rsync,
    /// `tar` behind a socket.
    Tar,
    /// `howdah serve` on several hosts, which serve one MooseFS as one.
    Heads,
    /// Nothing.
    None,
}

/// Where the served files are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExportKind {
    /// In a file system in memory.
    Memory,
    /// In the directory for temporary files.
    Disk,
    /// In an ext4 of its own whose disk is memory: a journal's commit costs what it costs on a disk that takes no time.
    Ext4,
}

/// `[cell.failover]`: the address of one head, which its clients use, moves to another head while they work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailoverSpec {
    /// When, after the first client began.
    pub after: Time,
    /// The head that has the address.
    pub from: String,
    /// The head that gets it.
    pub to: String,
    /// What the first one loses.
    pub loses: HeadLoss,
}

/// What a head loses when its address moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HeadLoss {
    /// The address alone, as for planned work: the head runs on.
    Address,
    /// Its network, and its server is killed.
    Server,
    /// All of that, and its mount of the cluster file system is killed too.
    Host,
}

impl Default for ServerSpec {
    fn default() -> Self {
        Self {
            kind: ServerKind::Howdah,
            host: "server".to_owned(),
            heads: Vec::new(),
            options: Vec::new(),
            tls: false,
            export: ExportKind::Memory,
        }
    }
}
