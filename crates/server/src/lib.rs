//! The NFS server: exports, programs and workers.
//!
//! A worker reads a record, `dispatch` finds the procedure in its program's table, the procedure's handler turns arguments
//! into calls on a `FileSystem` and the answer into a [`Reply`]. Handlers know nothing of sockets; workers know
//! nothing of NFS.

mod activity;
pub mod admin;
mod back_channel;
mod call_log;
#[cfg(test)]
mod calling;
pub mod caps;
pub mod capture;
mod client_lines;
mod connection;
mod connections;
mod copies;
mod counts;
mod crew;
mod datagram;
mod dispatch;
pub mod exports;
mod gates;
pub mod gss;
mod handle;
mod heads;
mod held_replies;
pub mod limits;
mod locks;
mod mount;
mod nfs3;
mod nfs4;
mod nlm;
mod nsm;
mod outgoing;
mod outline;
mod overwrites;
mod parked;
mod patience;
mod portmap;
mod program;
mod programs;
mod range_doubt;
pub mod registration;
mod reply;
mod reply_cache;
mod request;
mod room;
mod rquota;
mod samples;
mod secure;
mod segments;
mod seldom;
mod server;
mod service;
mod shared;
mod shares;
mod spare;
pub mod states;
mod sync;
pub mod tuning;
mod turns;
mod udp;
pub mod uplink;
mod watch;
mod weights;
mod worker;

pub use handle::{Envelope, SealedHandle, cluster_handle_key, server_name};
pub use outline::{Bulk, CompoundOpening, Outline, ReplyPace};
pub use program::{Position, Procedure, Program, Refusal, Repetition, Row, Tabled};
pub use reply::Reply;
pub use request::{Ends, Peer, Request, Transport, TransportSecurity};
pub use server::{BindError, Server, Settings, Sockets};
pub use service::{Service, ServiceOptions};
pub use tuning::{Look, Tuning, Watcher};
pub use udp::{Carried, PerInterface, UdpSettings, UdpTraffic};
pub use weights::ShareRule;
