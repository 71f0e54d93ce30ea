//! RPC over UDP in virtual time: a client, a model of a path each way, and a model of a server. For tests of this crate and
//! for the laboratory's experiments; behind the feature `simulation`.

mod calls;
mod client;
mod load;
mod message;
mod reader;
mod run;
mod server;

pub use calls::{getattr, null, read};
pub use client::{Action, Call, Client};
pub use load::Load;
pub use message::SimulatedMessage;
pub use reader::Reader;
pub use run::Simulation;
pub use server::{Repeats, Server};
