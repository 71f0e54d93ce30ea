//! A file system that takes its time, as a slow disk or a far one does.

use std::sync::Arc;
use std::time::Duration;

use super::{Call, Layer};
use crate::{FileSystem, Result};

/// Waits. This floor cannot; a simulation counts instead.
pub type Sleeper = Arc<dyn Fn(Duration) + Send + Sync>;

/// Waits before every call.
pub struct Delayed {
    inner: Arc<dyn FileSystem>,
    delay: Duration,
    sleep: Sleeper,
}

impl Delayed {
    /// The same files, each call `delay` later.
    pub fn around(inner: Arc<dyn FileSystem>, delay: Duration, sleep: Sleeper) -> Self {
        Self { inner, delay, sleep }
    }
}

impl Layer for Delayed {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, _call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        (self.sleep)(self.delay);
        run(&*self.inner)
    }
}
