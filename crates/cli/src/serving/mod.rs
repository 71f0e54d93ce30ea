//! From configuration to a running server: sockets, file systems, exports.

mod acceptor;
mod admin;
mod admin_address;
mod confining;
mod exports;
mod file_systems;
mod groups;
mod kerberos;
mod own_url;
mod portmapper;
mod prepared;
mod quotas;
mod running_server;
mod samples;
mod secrets;
mod sockets;
mod tls;
mod uplink;

pub use admin::admin_socket;
pub use confining::confine;
pub use file_systems::DirectoryNews;
pub use own_url::refuse_own_url;
pub use prepared::Prepared;
pub use running_server::RunningServer;
pub use sockets::listeners;
