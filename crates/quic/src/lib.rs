//! QUIC (RFC 9000) for RPC (draft-cel-nfsv4-rpc-over-quicv1): datagrams in, bytes of streams and datagrams out.
//!
//! It knows connections, streams and how fast to send. It does not know sockets, threads, what time it is, nor what the bytes mean.

mod admission;
mod controller;
mod engine;
mod event;
mod facts;
pub mod limits;
mod settings;
mod streams;

pub use engine::Engine;
pub use event::{ConnectionKey, LostWhy, QuicEvent, StreamKey};
pub use facts::ConnectionFacts;

pub use quinn_proto::Transmit;
pub use settings::{EngineSecret, SettingsError};
pub use streams::StreamRead;
