//! What files are called that were removed while they are open.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::time::{SystemTime, UNIX_EPOCH};

/// Names like those that Linux gives (`.nfs` and hexadecimal digits), which its tools for cleaning know.
pub struct SillyNames {
    next: AtomicU64,
    /// Those that are still to be removed.
    left: AtomicUsize,
}

impl SillyNames {
    /// Names that this mount has not given, nor, most likely, another one.
    pub fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { next: AtomicU64::new(now.as_nanos() as u64), left: AtomicUsize::new(0) }
    }

    /// The next name, of a file with this number.
    pub fn next(&self, file: u64) -> Vec<u8> {
        let count = self.next.fetch_add(1, Relaxed) as u32;
        format!(".nfs{file:016x}{count:08x}").into_bytes()
    }

    /// A file got one.
    pub fn on_given(&self) {
        self.left.fetch_add(1, SeqCst);
    }

    /// It is removed, or stays.
    pub fn on_done(&self) {
        self.left.fetch_sub(1, SeqCst);
    }

    /// Whether some are to be removed, which changes their directories.
    pub fn is_any_left(&self) -> bool {
        self.left.load(SeqCst) > 0
    }
}
