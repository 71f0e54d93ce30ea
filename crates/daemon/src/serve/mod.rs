//! From configuration to a running server: sockets, file systems, exports.

mod acceptor;
mod admin;
mod admin_address;
mod confining;
mod exports;
mod file_systems;
mod groups;
mod kerberos;
mod opened;
mod own_url;
mod portmapper;
mod prepared;
mod quotas;
mod running_server;
mod samples;
mod secrets;
mod sockets;
mod standing;
mod tls;
mod uplink;

pub use admin::admin_socket;
pub use confining::confine;
pub use file_systems::DirectoryNews;
pub use opened::{Handles, OpenedExport, has_low_ports};
pub use own_url::refuse_own_url;
pub use prepared::Prepared;
pub use running_server::RunningServer;
pub use sockets::listeners;
pub use standing::ExportStanding;
