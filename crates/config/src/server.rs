//! The server as a whole: what it means, every setting decided.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use howdah_server::caps::CapRule;
use howdah_server::{ShareRule, Tuning, UdpSettings};
use howdah_tls::ServerFiles;

use super::{AdminListen, AdminSocket, ClusterConfig, ExportConfig, KerberosConfig, Metrics};
use crate::log::LogFormat;

/// Everything that `howdah serve` needs to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// Where to listen.
    pub listen: Vec<SocketAddr>,
    /// Whether UDP is served beside TCP.
    pub udp: bool,
    /// How many sockets it has, and for what.
    pub udp_sockets: UdpSettings,
    /// Where QUIC is served, if it is.
    pub quic: Option<SocketAddr>,
    /// Threads that answer calls.
    pub workers: usize,
    /// What survives a restart.
    pub state: PathBuf,
    /// How clients find the port by themselves.
    pub rpcbind: Rpcbind,
    /// Whether NFSv4.1 and 4.2 are served beside NFSv3.
    pub nfs4: bool,
    /// Whether NFSv3 clients see and set POSIX ACLs.
    pub acls: bool,
    /// How long a client of NFSv4 keeps what it has open and locked without a word from it.
    pub lease: Duration,
    /// Whether callers are in the groups that this host knows them in.
    pub manage_gids: bool,
    /// Whether clients may ask for quotas.
    pub quotas: bool,
    /// Where the server may be asked what it does.
    pub admin: AdminSocket,
    /// Where it may be asked over TCP.
    pub admin_listen: Option<AdminListen>,
    /// What monitors are offered.
    pub metrics: Metrics,
    /// What proves the server to clients that want TLS; without it, none is offered.
    pub tls: Option<ServerFiles>,
    /// The server's keys of Kerberos, and which principals are which users. Without effect if no export takes its flavors.
    pub kerberos: KerberosConfig,
    /// What is shared with other servers of the same files, if there are any.
    pub cluster: Option<ClusterConfig>,
    /// What the server gives up of its rights before it serves.
    pub sandbox: Sandbox,
    /// How connections are sized.
    pub tuning: Tuning,
    /// What some clients may have at most.
    pub caps: Vec<CapRule>,
    /// How much clients get of what is short, against others.
    pub shares: Vec<ShareRule>,
    /// For experiments.
    pub experiment: Experiment,
    /// What to log, as a filter; `None`: the usual.
    pub log: Option<String>,
    /// The form of the log.
    pub log_format: LogFormat,
    /// What is served; at least one.
    pub exports: Vec<ExportConfig>,
}

/// What nobody wants of a server but who measures with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Experiment {
    /// Every call waits so long before it is carried out.
    pub delay: Option<Duration>,
    /// Every look at a connection is written to this file.
    pub samples: Option<PathBuf>,
}

/// What a server gives up of its rights before it serves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Sandbox {
    /// Limit capabilities, and without root also file access (Landlock); costs no speed
    #[default]
    Auto,
    /// The same, and system calls (seccomp); costs 3 % of the rate of the smallest calls
    Seccomp,
    /// The same, and file access also as root; this refuses some hard links
    Strict,
    /// Limit capabilities only; then a reload can add directories
    NoLandlock,
    /// No limits
    Off,
}

impl Sandbox {
    /// As it is written in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Seccomp => "seccomp",
            Self::Strict => "strict",
            Self::NoLandlock => "no-landlock",
            Self::Off => "off",
        }
    }
}

/// How clients find the port by themselves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Rpcbind {
    /// Register with the rpcbind of this machine, or answer in its place
    #[default]
    Auto,
    /// Do neither
    Off,
}
