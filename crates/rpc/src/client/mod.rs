//! The client's side: calls out, replies in and matched to them.

mod claim;
mod class;
pub mod core;
pub mod datagram;
pub mod envelope;
mod error;
mod first_bytes;
mod incoming;
pub mod lanes;
mod outgoing;
mod peer;
mod receive;

pub use claim::Claim;
pub use class::{Class, ReplaySafety};
pub use error::PeerError;
pub use first_bytes::FirstBytes;
pub use incoming::{Reply, StreamRecord};
pub use outgoing::{CallEnvelope, NextOutgoing, Outgoing, Payload, SealBuffer};
pub use peer::{Peer, Room};
pub use receive::{Locate, ReceiveInto};
