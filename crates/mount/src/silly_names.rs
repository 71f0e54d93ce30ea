//! What files are called that were removed while they are open.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{SystemTime, UNIX_EPOCH};

/// Names like those that Linux gives (`.nfs` and hexadecimal digits), which its tools for cleaning know.
pub struct SillyNames(AtomicU64);

impl SillyNames {
    /// Names that this mount has not given, nor, most likely, another one.
    pub fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(AtomicU64::new(now.as_nanos() as u64))
    }

    /// The next name, of a file with this number.
    pub fn next(&self, file: u64) -> Vec<u8> {
        let count = self.0.fetch_add(1, Relaxed) as u32;
        format!(".nfs{file:016x}{count:08x}").into_bytes()
    }
}
