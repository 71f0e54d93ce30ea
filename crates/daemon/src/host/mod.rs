//! What a running server needs of the machine around it: a place for its state, signals, the service manager, the
//! log, and answers about addresses, ports and privileges.

mod addresses;
mod admin_token;
mod client_directory;
mod cluster_key;
mod handle_key;
mod host_source;
mod inherited;
mod living;
mod logging;
mod netgroups;
mod open_files;
mod path_file;
mod port_owner;
mod resolve;
mod running_file;
mod service_manager;
mod signals;
mod state_directory;
mod state_origin;
mod user_name;

pub use addresses::{own_addresses, worth_showing};
pub use admin_token::{admin_token, admin_token_file};
pub use client_directory::ClientDirectory;
pub use cluster_key::{cluster_key, make_cluster_key};
pub use handle_key::handle_key;
pub use inherited::inherited_sockets;
pub use logging::{start_command_log, start_log};
pub use netgroups::Netgroups;
pub use open_files::allow_many_open_files;
pub use path_file::{load_paths, save_paths};
pub use port_owner::explain_taken_port;
pub use resolve::ClientNames;
pub use running_file::{FoundServer, RunningFile, is_admin_socket, running_servers};
pub use service_manager::ServiceManager;
pub use signals::{Signal, catch_signals, read_signals, signals};
pub use state_directory::{
    export_state, is_full_or_read_only, part_of_state, prepare_state, warn_of_unwritable,
};
pub use state_origin::warn_of_copy;
pub use user_name::user_name;
