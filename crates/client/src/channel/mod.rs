//! The way to one server: calls go out over one or several lanes, replies come back to who waits.
//!
//! What is sent where, when and how often, `howdah_rpc::client::core` decides; here are the sockets, the threads and the clock. Who waits
//! for a reply receives for all ("leads") until its own has come, then hands the lead to another who waits: the thread that needs the
//! answer is the one that the kernel wakes. Each lane has a thread besides, which connects it, sees when it is silent, and receives when
//! replies are due and nobody waits.

mod answer;
mod backoff;
mod call;
mod connecting;
mod datagram;
mod door;
mod driver;
mod error;
mod evidence;
mod gauge;
mod kerberos_error;
mod lane;
mod lane_thread;
mod lead;
mod link;
mod lost_path;
mod options;
mod paths;
mod payload;
mod pending;
mod protocol;
mod receive;
mod report;
mod request;
mod review;
mod second;
mod send;
mod shared;
mod sizes;
mod sizing;
mod starttls;
mod streams;
mod tally;
mod target;
mod wakeup;

pub use answer::Answer;
pub use connecting::ConnectStep;
pub use door::Channel;
pub use error::{CallError, CallRefusal, LaneConnectError};
pub use evidence::LimitReport;
pub use howdah_net::Transport;
pub use howdah_rpc::client::core::{Patience, ProcedureReport};
pub use howdah_rpc::client::datagram::{Advice, ClassReport, Report as DatagramReport};
pub use howdah_rpc::client::envelope::{
    AfterCall, CallEnd, CallProtection, CallSends, CallSession, CallTicket, CoveredReply, DeniedCall,
    ResultsCover, TicketNeed, TicketStamp, Unprotected,
};
pub use howdah_rpc::client::lanes::{GrowthReason, LANES_MAX, LaneLimit, Lanes};
pub use howdah_rpc::client::{Class, Locate, ReceiveInto, ReplaySafety};
pub use kerberos_error::KerberosError;
pub use options::ChannelOptions;
pub use paths::{remember_paths, remembered_paths};
pub use payload::Payload;
pub use pending::Pending;
pub use protocol::{AnswerCall, ChannelProtocol};
pub use report::{ChannelReport, LaneReport, QuicFacts, TlsReport};
pub use request::{LateAnswer, Request};
pub use starttls::{first_call, is_tls, null_call, secure};
pub use target::Target;
