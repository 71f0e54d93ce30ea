//! The way to one server: calls go out over one or several lanes, replies come back to who waits.
//!
//! Whoever waits for a reply receives for all ("leads") until its own has come, then hands the lead to another who
//! waits: the thread that needs the answer is the one that the kernel wakes. Each lane has a tender besides, a thread that
//! connects it, sees when it is silent, and receives when replies are due and nobody waits.

mod absence;
mod answer;
mod aside;
mod backoff;
mod bell;
mod call;
mod counters;
mod datagram;
mod door;
mod error;
mod evidence;
mod gauge;
mod hub;
mod lane;
mod lead;
mod link;
mod options;
mod paths;
mod payload;
mod pending;
mod report;
mod request;
mod review;
mod send;
mod shared;
mod sizes;
mod sizing;
mod spare;
mod starttls;
mod streams;
mod tally;
mod target;
mod tender;
mod window;

pub use answer::Answer;
pub use door::Channel;
pub use error::{CallError, ConnectError, Refusal};
pub use evidence::LimitReport;
pub use howdah_net::Transport;
pub use howdah_rpc::client::datagram::{Advice, ClassReport, Report as DatagramReport};
pub use howdah_rpc::client::lanes::{LANES_MAX, Lanes, Limit, Why};
pub use howdah_rpc::client::{Class, Locate, ReceiveInto, Replay};
pub use options::{ChannelOptions, Patience};
pub use paths::{remember_paths, remembered_paths};
pub use payload::Payload;
pub use pending::Pending;
pub use report::{ChannelReport, LaneReport, ProcedureReport, TlsReport};
pub use request::Request;
pub use starttls::{is_tls, null_call, secure};
pub use target::Target;
