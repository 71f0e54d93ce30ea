//! What travels.

use howdah_link::{Random, Segments};

/// A call or a reply on its way, in one datagram with all its fragments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SimulatedMessage {
    /// Of the call.
    pub xid: u32,
    /// Bytes of the reply.
    pub reply: usize,
}

/// Nothing here cuts or damages it.
impl Segments for SimulatedMessage {
    fn split_first(&mut self, _: u32) -> Self {
        unreachable!("a datagram is one segment")
    }

    fn corrupt(&mut self, _: &mut Random) {
        unreachable!("no path of a simulation damages")
    }
}
