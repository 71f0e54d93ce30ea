//! What elements ask of a body: to be cut between segments, copied, and damaged.

use crate::Random;

/// A body that elements can treat as the packets that it stands for. A clone is what a duplicate carries.
pub trait Segments: Clone {
    /// Cuts off the first so many segments, at least one and never all; what stays are those behind them. Never called
    /// on a body whose packet has one segment.
    #[must_use]
    fn split_first(&mut self, segments: u32) -> Self;

    /// Damages it: flips a bit that chance chooses. Its packet has one segment. Where a checksum is still to be filled
    /// in, it is filled in before, so that the receiver finds it wrong.
    fn corrupt(&mut self, random: &mut Random);
}

/// The bytes of one packet.
impl Segments for Vec<u8> {
    fn split_first(&mut self, _: u32) -> Self {
        unreachable!("plain bytes are one segment")
    }

    fn corrupt(&mut self, random: &mut Random) {
        if !self.is_empty() {
            let bit = random.below(self.len() as u64 * 8);
            self[(bit / 8) as usize] ^= 1 << (bit % 8);
        }
    }
}
