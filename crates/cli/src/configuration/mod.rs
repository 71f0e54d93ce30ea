//! What was typed or written in the file means, in one place: [`ServerConfig`]. Nothing here starts anything.

mod access;
mod admin;
mod admin_listen;
mod caching;
mod changes;
mod clients;
mod cluster;
mod datagrams;
mod defaults;
mod delegations;
mod directory;
#[cfg(test)]
mod documented;
mod export;
mod export_table;
mod file;
mod from_flags;
mod identifier;
mod known_exports;
mod listen;
mod load;
mod metrics;
mod name;
mod network_table;
mod problems;
mod reload;
mod section;
mod server;
mod shared_files;
mod sizes;
mod source;
mod taken;
#[cfg(test)]
pub mod testing;
mod tls;
mod warnings;

pub use access::{Access, PrivilegedPorts, Squash};
pub use admin::{AdminSocket, parse_admin};
pub use admin_listen::{AdminListen, AdminListenSaid, TlsFiles, parse_admin_listen};
pub use changes::export_changes;
pub use clients::{ClientPattern, ClientRule};
pub use cluster::ClusterConfig;
pub use datagrams::{Datagrams, UdpSockets, parse_udp_sockets};
pub use defaults::{ANONYMOUS, DEFAULT_PORT, LONGEST_LEASE, MOST_WORKERS, SHORTEST_LEASE, state_directory};
pub use delegations::Delegations;
pub use export::{Durability, ExportConfig};
pub use listen::{default_listen, every_address, parse_listen};
pub use load::{load_arguments, load_file, load_text};
pub use metrics::{MOST_METRICS_CLIENTS, Metrics, MetricsSaid, parse_metrics};
pub use name::ExportName;
pub use problems::{Problem, Problems};
pub use server::{Experiment, Rpcbind, Sandbox, ServerConfig};
pub use sizes::Sizes;
pub use source::Source;
pub use tls::{TlsSaid, days, ending, parse_tls_policy};
