//! Keeps a copy below its rate.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::{Bucket, StopSign};

/// When bytes may be on their way.
pub(super) struct Pace {
    bucket: Option<Mutex<Bucket>>,
    start: Instant,
    stop: StopSign,
}

impl Pace {
    /// At most so many bytes per second, if that is bounded.
    pub(super) fn new(rate: Option<u64>, stop: StopSign) -> Self {
        Self { bucket: rate.map(|rate| Mutex::new(Bucket::new(rate))), start: Instant::now(), stop }
    }

    /// Waits until so many bytes may be on their way; says whether to go on.
    pub(super) fn wait(&self, bytes: u64) -> bool {
        let Some(bucket) = &self.bucket else { return !self.stop.is_set() };
        let wait = bucket.lock().take(bytes, self.start.elapsed());
        self.stop.wait(wait)
    }

    /// Bytes that were waited for are not on their way: others take their turn.
    pub(super) fn give_back(&self, bytes: u64) {
        if let Some(bucket) = &self.bucket {
            bucket.lock().give_back(bytes);
        }
    }

    /// For how long somebody waited.
    pub(super) fn held_back(&self) -> Duration {
        self.bucket.as_ref().map_or(Duration::ZERO, |bucket| bucket.lock().held())
    }
}
