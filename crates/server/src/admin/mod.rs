//! The admin interface: HTTP/1.1 and JSON on a Unix socket, for the user who runs the server and for root. It tells what holds and
//! changes knobs; `docs/protocols/admin.md` describes it. It runs on a thread of its own, and nothing asynchronous leaves
//! this folder.

mod client;
mod clients;
mod counted;
mod counts;
mod exchange;
mod failure;
mod history;
mod index;
mod knobs;
mod metrics;
mod routes;
mod samples;
mod since;
mod thread;
mod tuning;
mod udp;

pub use client::{Client, Clients, Group, Lane, Recent};
pub use counted::{Bucket, Export, Exports, Latency, Procedure, Procedures, ReplyCache, Unheard, Workers};
pub use index::{Index, Offered};
pub use knobs::KnobList;
pub use metrics::MetricsSettings;
pub use samples::{Columns, ConnectionSamples, RecentSamples};
pub(crate) use thread::{Admin, AdminSockets};
pub use udp::Udp;
