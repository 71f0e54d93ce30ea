//! The server of a cell as a plan writes it.

use serde::{Deserialize, Serialize};

/// `[cell.server]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerSpec {
    /// What serves.
    pub kind: ServerKind,
    /// The host it runs on.
    pub host: String,
    /// More flags for it.
    pub options: Vec<String>,
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

impl Default for ServerSpec {
    fn default() -> Self {
        Self {
            kind: ServerKind::Howdah,
            host: "server".to_owned(),
            options: Vec::new(),
            export: ExportKind::Memory,
        }
    }
}
