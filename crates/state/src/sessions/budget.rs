//! How many bytes of replies are kept, of all sessions together and of those of one client.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of replies that are kept, and how many may be.
#[derive(Debug)]
pub struct ReplyBudget {
    kept: AtomicUsize,
    most: usize,
    of_one_client: usize,
}

impl ReplyBudget {
    /// So many bytes may be kept, and so many of one client.
    pub fn new(most: usize, of_one_client: usize) -> Self {
        Self { kept: AtomicUsize::new(0), most, of_one_client }
    }

    /// What there may be of one client.
    pub fn of_one_client(&self) -> usize {
        self.of_one_client
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
