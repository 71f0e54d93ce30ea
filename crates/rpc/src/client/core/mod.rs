//! What a channel decides, without a socket, a thread or a clock: which calls may be in flight, which lane carries each, what is sent
//! again and where, how many lanes there are, when a lane or the server is given up.
//!
//! The driver reports each event with its time, sends the calls that [`Core::poll_send`] gives, and acts on the outputs of [`Core::poll`].

mod calls;
#[allow(clippy::module_inception, reason = "it is what the folder is named after")]
mod core;
mod counters;
mod lane;
mod lanes;
mod output;
mod server;
mod settings;
mod small_lane;

pub use self::core::Core;
pub use calls::{CallFacts, ProcedureId};
pub use counters::{MovedBulk, ProcedureReport};
pub use lanes::LanePlan;
pub use output::{
    AnswerEffect, AnsweredCall, CallToSend, ChannelNotice, CoreOutput, Failure, Glance, LaneSketch, LaneWork,
};
pub use server::changes_nothing;
pub use settings::{CoreSettings, Patience};
