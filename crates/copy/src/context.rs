//! What all parts of a copy share: its destination and options, its counters, its progress report, its stop flag.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use howdah_vfs::Stability;
use parking_lot::Mutex;

use super::error::{Cause, CopyError, On};
use super::removal::Change;
use super::tally::{Tally, count};
use super::{Bucket, CopyOptions, Event, Observer, Side, StopSign};

/// What holds for all of a copy.
pub(super) struct Context {
    pub(super) destination: Side,
    pub(super) options: CopyOptions,
    /// Bytes that are read or written at once.
    pub(super) block: usize,
    pub(super) tally: Arc<Tally>,
    pub(super) stop: StopSign,
    observer: Arc<dyn Observer>,
    /// Notes that were made already.
    noted: Mutex<Vec<&'static str>>,
    /// Something of a source could not be read.
    source_failed: AtomicBool,
}

impl Context {
    /// Of a copy that has not begun.
    pub(super) fn new(destination: Side, options: CopyOptions, observer: Arc<dyn Observer>) -> Self {
        let block = options.tuning.block;
        let block = options.rate.map_or(block, |rate| Bucket::smooth_block(rate, block));
        let (tally, stop, noted, source_failed) = Default::default();
        Self { destination, options, block, tally, stop, observer, noted, source_failed }
    }

    /// Of what is written to be safe at once.
    pub(super) fn durability(&self) -> Stability {
        if self.options.sync { Stability::FileSync } else { Stability::Unstable }
    }

    pub(super) fn tell(&self, event: &Event<'_>) {
        self.observer.on_event(event);
    }

    /// Whether something of a source could not be read.
    pub(super) fn has_source_failed(&self) -> bool {
        self.source_failed.load(Ordering::Relaxed)
    }

    /// Counts and reports something that was not copied.
    pub(super) fn report(&self, error: &CopyError) {
        // The report at the end contains this once.
        if error.cause == Cause::Stopped {
            return;
        }
        // What changes all the time is there: nothing is removed in its place.
        let is_unknown = error.on == On::Source && error.cause != Cause::Changed;
        self.source_failed.fetch_or(is_unknown, Ordering::Relaxed);
        count(&self.tally.errors);
        self.tell(&Event::Failed(error));
    }

    /// Reports something once.
    pub(super) fn note(&self, text: &'static str) {
        let mut noted = self.noted.lock();
        if !noted.contains(&text) {
            noted.push(text);
            drop(noted);
            self.tell(&Event::Note(text));
        }
    }

    /// Something was listed and is gone: the source has it no more.
    pub(super) fn on_vanished(&self, path: &[u8]) {
        count(&self.tally.vanished);
        self.tell(&Event::Vanished { path });
    }

    /// Something was removed, or could not be.
    pub(super) fn on_change(&self, change: &Change<'_>) {
        match change {
            Change::Removed(path) => {
                count(&self.tally.removed);
                self.tell(&Event::Removed { path });
            }
            Change::Failed(error) => self.report(error),
        }
    }
}
