//! Asking servers that run here, over their admin sockets: which there are, and what they answer.

mod client_name;
mod find;
mod http;
mod running;

pub use client_name::ClientName;
pub use find::{ServerName, find_servers, none_running, the_one_server};
pub use running::{AskedServer, Refused};
