//! The other end: `howdah doctor --listen` sends, takes and bounces for a doctor that asks over TCP, within bounds.
//!
//! Nobody can use it against a third: what it sends goes over a TCP connection that was made, or back in answer to a datagram
//! that knows the secret of one, and is never longer than that.

mod ask;
mod bounce;
mod datagram;
mod listen;
mod request;
mod serve;

pub use ask::{Bouncer, Peer};
pub use listen::{Listening, PORT, listen};
