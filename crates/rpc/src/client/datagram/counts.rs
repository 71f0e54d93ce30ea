//! What happened to the calls of a class.

/// Calls of a class.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Counts {
    pub(super) calls: u64,
    pub(super) again: u64,
    pub(super) for_nothing: u64,
    pub(super) timed_out: u64,
    pub(super) answered: u64,
    pub(super) expired: u64,
}

impl Counts {
    pub(super) fn sent(&mut self, sends: u32) {
        if sends == 1 {
            self.calls += 1;
        } else {
            self.again += 1;
        }
    }
}
