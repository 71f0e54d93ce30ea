//! QUIC on a UDP port: one thread moves datagrams and the bytes of all streams; each stream is one end of a pair of Unix sockets, which
//! waits and wakes as a connection of TCP does.
//!
//! `howdah-quic` knows the protocol; here are its socket, its clock and its thread.

mod accepting;
mod bridge;
mod dialer;
mod driver;
mod lane;
mod link;
mod readiness;
mod socket;
mod words;

pub use accepting::{QuicListener, QuicPort};
pub use dialer::QuicDialer;
pub use howdah_quic::{ConnectionFacts, EngineSecret};
pub use lane::QuicLane;
pub use socket::QuicSocketFacts;
