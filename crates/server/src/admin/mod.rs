//! The admin interface: HTTP/1.1 and JSON on a Unix socket, for the user who runs the server and for root, and on a TCP address
//! for callers with the token. It reports the state and changes knobs; `docs/protocols/admin.md` describes it. It runs on a
//! thread of its own, and nothing asynchronous leaves this folder.

mod access_token;
mod address;
mod asked;
mod capture;
mod certificate;
mod client;
mod clients;
mod counted;
mod counts;
mod exchange;
mod failure;
mod gate;
mod head_watch;
mod heads;
mod history;
mod index;
mod kerberos;
mod knobs;
mod memory;
mod metrics;
mod openapi;
mod page;
mod process;
mod question;
mod questions;
mod routes;
mod samples;
mod since;
mod space;
mod states;
mod thread;
mod tuning;
mod udp;
mod uplinks;

pub use access_token::AccessToken;
pub use address::AdminAddress;
pub use capture::{Captured, Order as CaptureOrder};
pub use certificate::{Certificate, CertificateError};
pub use client::{Client, Clients, Group, Lane, Recent};
pub(crate) use clients::moves_now;
pub use counted::{
    Bucket, Capacity, Export, Exports, Latency, Procedure, Procedures, ReplyCache, Unheard, Workers,
};
pub use head_watch::{ClusterHeads, ShownHead};
pub use index::{Index, Offered};
pub use kerberos::{Kerberos, KerberosRefusal};
pub use knobs::KnobList;
pub use memory::Memory;
pub use metrics::MetricsSettings;
pub use samples::{Columns, ConnectionSamples, RecentSamples};
pub use states::{LockReport, StateClient, StateReport};
pub(crate) use thread::{Admin, AdminSockets};
pub use udp::Udp;
pub use uplinks::{ExportUplink, Uplinks};
