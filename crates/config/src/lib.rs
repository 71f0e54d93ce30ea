//! What the configuration of a server means, in one place: [`ServerConfig`]. Nothing here starts anything.
//!
//! A configuration is read from TOML with all its problems, merged with what a command line says ([`FileSettings`]), and decided. Linux's
//! `/etc/exports` (exports(5)) becomes one by [`linux_exports`].

mod access;
mod admin;
mod admin_listen;
mod caching;
mod changes;
mod clients;
mod cluster;
mod datagrams;
mod decide;
mod defaults;
mod delegations;
mod directory;
mod disk_cache;
mod export;
mod export_locks;
mod export_table;
mod file;
mod identifier;
mod kerberos;
mod known_exports;
mod limit_table;
pub mod linux_exports;
mod listen;
mod load;
mod log;
mod metrics;
mod name;
mod network_table;
mod problems;
pub mod quantity;
mod refused_locks;
mod reload;
mod section;
mod server;
mod share_table;
mod shared_files;
mod sizes;
mod source;
pub mod spelling;
mod taken;
#[cfg(test)]
mod testing;
mod tls;
mod warnings;

pub use access::{ClientAccess, PrivilegedPorts, Squash};
pub use admin::{AdminSocket, parse_admin};
pub use admin_listen::{AdminListen, AdminListenSaid, TlsFiles, parse_admin_listen};
pub use caching::check_caching;
pub use changes::export_changes;
pub use clients::{ClientPattern, ClientRuleConfig};
pub use cluster::ClusterConfig;
pub use datagrams::{Datagrams, UdpSockets, parse_udp_sockets};
pub use defaults::{ANONYMOUS, DEFAULT_PORT, LONGEST_LEASE, MOST_WORKERS, SHORTEST_LEASE, state_directory};
pub use delegations::Delegations;
pub use disk_cache::DiskCacheSettings;
pub use export::{Durability, ExportConfig};
pub use export_locks::ExportLocks;
pub use file::FileSettings;
pub use identifier::identifier;
pub use kerberos::{KerberosConfig, KeytabTrouble, asks_kerberos, parse_flavors};
pub use listen::{default_listen, every_address, parse_listen};
pub use load::{load_file, load_text, read_file};
pub use log::{LogFormat, check_log_filter, parse_log_filter};
pub use metrics::{MOST_METRICS_CLIENTS, Metrics, MetricsSaid, parse_metrics};
pub use name::ExportName;
pub use problems::{Problem, Problems};
pub use server::{Experiment, Rpcbind, Sandbox, ServerConfig};
pub use shared_files::delegations_obstacle;
pub use sizes::Sizes;
pub use source::Source;
pub use tls::{TlsSaid, days, ending, parse_tls_policy};
