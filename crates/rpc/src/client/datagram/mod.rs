//! RPC over UDP, the client's side, as a state machine: what to send and when, what a reply proves, how much may be on
//! the way, how large a transfer may be.
//!
//! But for the header of a reply it neither makes nor reads messages: the caller that drives it gives it calls of any type `C`,
//! sends what [`Peer::poll`] says, passes it the xid of each reply, and sleeps until [`Peer::next_event`].

mod advice;
mod counts;
mod entry;
mod estimator;
mod expiry;
mod least;
mod message;
mod overdue;
mod pacer;
mod patience;
mod peer;
mod rate;
mod replies;
mod reply;
mod report;
mod settings;
mod settled;
mod table;
mod transfer;
mod waiting;
mod window;
mod worth;

pub use advice::Advice;
pub use entry::NewCall;
pub use message::Message;
pub use peer::{Output, Peer, Returned};
pub use replies::ReceivedReply;
pub use reply::ReplyDatagram;
pub use report::{ClassReport, Report};
pub use settings::Settings;
