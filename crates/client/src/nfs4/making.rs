//! What is known of how files are made at a server.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use howdah_vfs::Caller;

/// Owners of opens of one user: two opens of a file by one owner at the same time are one, and the first CLOSE ends both.
const OWNERS: u32 = 64;

/// How files are made at a server.
pub(super) struct Making {
    /// So many were opened to make them.
    opened: AtomicU32,
    /// Whether a file can be made whole in one compound, as far as is known.
    puts_whole: AtomicBool,
}

impl Making {
    /// None was made yet.
    pub(super) fn new(puts_whole: bool) -> Self {
        Self { opened: AtomicU32::new(0), puts_whole: AtomicBool::new(puts_whole) }
    }

    /// The owner of the next open by which this user makes a file.
    pub(super) fn next_owner(&self, caller: &Caller) -> String {
        format!("{}:{}", caller.user, self.opened.fetch_add(1, Ordering::Relaxed) % OWNERS)
    }

    /// Whether a file can be made whole in one compound, as far as is known.
    pub(super) fn puts_whole(&self) -> bool {
        self.puts_whole.load(Ordering::Relaxed)
    }

    /// It cannot.
    pub(super) fn forgo_whole(&self) {
        self.puts_whole.store(false, Ordering::Relaxed);
    }
}
