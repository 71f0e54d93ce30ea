//! A lane beside the others, for small calls that would wait for bulk on them: behind what the sender has put into the socket and
//! into the line, and while bbr holds the connection back to look at the round trip.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::lane::Lane;
use super::shared::Shared;
use super::tender::Tender;

/// A small call that would wait for so long is worth a connection: longer than for a few records of bulk on a local network.
const WORTH_IT: Duration = Duration::from_millis(50);
/// After so long it is tried again with a server that took no such connection.
const REST: Duration = Duration::from_secs(600);

/// The lane, and whether it is used.
pub(super) struct Aside {
    pub(super) lane: Arc<Lane>,
    is_wanted: AtomicBool,
    is_tended: AtomicBool,
    refused: parking_lot::Mutex<Option<Instant>>,
}

impl Aside {
    /// A lane that is not used yet. Like any new one it takes calls once it has answered a first one.
    pub(super) fn new(lane: Arc<Lane>) -> Self {
        lane.is_suspect.store(true, Ordering::Relaxed);
        let (is_wanted, is_tended) = Default::default();
        Self { lane, is_wanted, is_tended, refused: Default::default() }
    }

    /// Whether it is used.
    pub(super) fn is_used(&self) -> bool {
        self.is_wanted.load(Ordering::Relaxed)
    }

    /// The server did not take its connection.
    pub(super) fn on_refusal(&self) {
        self.is_wanted.store(false, Ordering::Relaxed);
        *self.refused.lock() = Some(Instant::now());
    }

    fn may_be_tried(&self) -> bool {
        self.refused.lock().is_none_or(|refused| refused.elapsed() > REST)
    }
}

impl Shared {
    /// The lane for a small call, of which `first` of the others would deliver it first.
    pub(super) fn aside_or<'s>(&'s self, first: &'s Arc<Lane>) -> &'s Arc<Lane> {
        let Some(aside) = &self.aside else { return first };
        if !first.meter.lock().is_busy() || self.hub.window.bulk_takes() < WORTH_IT {
            return first;
        }
        if aside.lane.delivers() {
            return &aside.lane;
        }
        if !aside.is_used() && aside.may_be_tried() {
            aside.is_wanted.store(true, Ordering::Relaxed);
        }
        first
    }

    /// Starts the thread of the lane beside the others once it is wanted.
    pub(super) fn tend_aside(self: &Arc<Self>) {
        let Some(aside) = self.aside.as_ref().filter(|aside| aside.is_used()) else { return };
        if aside.is_tended.swap(true, Ordering::Relaxed) {
            // It may sleep since it was not wanted any more.
            aside.lane.bell.wake_sleeper();
            return;
        }
        tracing::debug!("a lane for small calls, which would wait for bulk");
        let tender = Tender::new(Arc::clone(self), Arc::clone(&aside.lane));
        let name = format!("lane-{}", aside.lane.index);
        if let Err(error) = std::thread::Builder::new().name(name).spawn(|| tender.run()) {
            tracing::warn!(%error, "starting a thread for a lane");
            aside.is_tended.store(false, Ordering::Relaxed);
            aside.on_refusal();
        }
    }
}
