//! What a worker keeps from task to task.

/// A worker.
pub(super) struct Worker {
    pub(super) number: usize,
    pub(super) buffer: Vec<u8>,
    /// For the other side, where both are read.
    pub(super) other: Vec<u8>,
}

impl Worker {
    /// One that has done nothing yet.
    pub(super) fn new(number: usize) -> Self {
        Self { number, buffer: Vec::new(), other: Vec::new() }
    }
}
