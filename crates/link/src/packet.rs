//! What travels on a path: a body that no element looks into, and what elements must know of it.

/// A packet, or a datagram with all its fragments: they travel together, and are lost together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet<B> {
    /// Bytes on the wire, with all headers of all fragments.
    pub bytes: usize,
    /// How many fragments it travels in; 1: it is whole.
    pub fragments: u32,
    /// How many of them were lost so far. A receiver cannot put such a datagram together.
    pub missing: u32,
    /// Whatever it carries.
    pub body: B,
}

impl<B> Packet<B> {
    /// A packet in one piece.
    pub fn whole(bytes: usize, body: B) -> Self {
        Self { bytes, fragments: 1, missing: 0, body }
    }
}
