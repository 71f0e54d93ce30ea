//! Processor time of this process.

use nix::sys::resource::{UsageWho, getrusage};
use serde::Serialize;

/// Processor seconds that all threads of this process used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Processor {
    /// In user space.
    pub user_seconds: f64,
    /// In the kernel, for this process.
    pub system_seconds: f64,
}

impl Processor {
    /// Since the process began. Zero where the kernel does not report it.
    pub fn used() -> Self {
        let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return Self::default() };
        let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
        Self { user_seconds: seconds(usage.user_time()), system_seconds: seconds(usage.system_time()) }
    }

    /// What came since an earlier look.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            user_seconds: (self.user_seconds - earlier.user_seconds).max(0.0),
            system_seconds: (self.system_seconds - earlier.system_seconds).max(0.0),
        }
    }

    /// User and system together.
    pub fn seconds(&self) -> f64 {
        self.user_seconds + self.system_seconds
    }
}
