//! Sums over connections, kept up with each sample: going through all of them for each sample of each would be quadratic.

/// What some connections have together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// How many they are.
    pub connections: u64,
    /// How many moved something of late.
    pub busy: u64,
    /// Bytes of windows promised to peers.
    pub promised: u64,
    /// Bytes in send queues of those that move nothing.
    pub stalled: u64,
}

impl Totals {
    /// One of them changed.
    pub(super) fn replace(&mut self, before: &Self, after: &Self) {
        let change =
            |sum: &mut u64, before: u64, after: u64| *sum = sum.saturating_add(after).saturating_sub(before);
        change(&mut self.connections, before.connections, after.connections);
        change(&mut self.busy, before.busy, after.busy);
        change(&mut self.promised, before.promised, after.promised);
        change(&mut self.stalled, before.stalled, after.stalled);
    }
}
