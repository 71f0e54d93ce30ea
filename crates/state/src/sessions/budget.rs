//! How many bytes of replies are kept, of all sessions together.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of replies that are kept, and how many may be.
#[derive(Debug)]
pub struct ReplyBudget {
    kept: AtomicUsize,
    most: usize,
}

impl ReplyBudget {
    /// So many bytes may be kept.
    pub fn new(most: usize) -> Self {
        Self { kept: AtomicUsize::new(0), most }
    }

    /// Takes so many bytes, if they are there.
    pub fn take(&self, bytes: usize) -> bool {
        let before = self.kept.fetch_add(bytes, Ordering::Relaxed);
        let fits = before.checked_add(bytes).is_some_and(|after| after <= self.most);
        if !fits {
            self.give_back(bytes);
        }
        fits
    }

    /// Gives back what was taken.
    pub fn give_back(&self, bytes: usize) {
        self.kept.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Bytes that are kept.
    pub fn kept(&self) -> usize {
        self.kept.load(Ordering::Relaxed)
    }
}
