//! A load that ends after a number of calls.

use super::Load;

/// Ends another load early.
pub struct Counted {
    load: Box<dyn Load>,
    left: u64,
}

impl Counted {
    /// After `count` calls.
    pub fn new(load: Box<dyn Load>, count: u64) -> Self {
        Self { load, left: count }
    }
}

impl Load for Counted {
    fn looks_at(&self) -> usize {
        self.load.looks_at()
    }

    fn count(&self) -> Option<u64> {
        Some(self.left)
    }

    fn call(&mut self, slot: usize, xid: u32, output: &mut Vec<u8>) -> bool {
        if self.left == 0 || !self.load.call(slot, xid, output) {
            return false;
        }
        self.left -= 1;
        true
    }

    fn bulk(&self) -> &[u8] {
        self.load.bulk()
    }

    fn reply(&mut self, slot: usize, head: &[u8], length: usize) -> anyhow::Result<u64> {
        self.load.reply(slot, head, length)
    }
}
