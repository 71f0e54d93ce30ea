//! What the generator and the makers of calls agree on.

/// Makes the calls of one measurement and checks their replies.
pub trait Load: Send {
    /// How much of each reply it wants to see, in bytes.
    fn looks_at(&self) -> usize {
        256
    }

    /// How many calls it has, if that ends a measurement, and not the time.
    fn count(&self) -> Option<u64> {
        None
    }

    /// Appends the next call, whole or up to the bulk; `false`: there is none. `slot` is its place in flight.
    fn call(&mut self, slot: usize, xid: u32, output: &mut Vec<u8>) -> bool;

    /// What ends every call, sent from where it is.
    fn bulk(&self) -> &[u8] {
        &[]
    }

    /// Checks the beginning of a reply that went well, of `length` bytes; returns the units done.
    fn reply(&mut self, slot: usize, head: &[u8], length: usize) -> anyhow::Result<u64>;

    /// Checks afterwards what the calls did.
    fn finish(&mut self) -> anyhow::Result<()> {
        Ok(())
    }
}
