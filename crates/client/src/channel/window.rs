//! The window that the threads of a channel share.

use std::sync::Arc;
use std::time::Duration;

use howdah_rpc::client::lanes::{self, Place};
use howdah_tune::flight::{Bounds, Choice, Expected};
use parking_lot::Mutex;

use super::ChannelOptions;
use super::call::Call;

/// What is in flight, and what waits to be.
///
/// Its lock may be held while a call's is taken, never the other way round.
pub(super) struct Window(Mutex<lanes::Window<Arc<Call>>>);

/// At least so many bytes of bulk are in flight. Of WRITEs of 32 KiB each they are 64, so that a tree of small files need not wait until
/// the path is measured; of 1 MiB each they are two.
const FLOOR_BYTES: usize = 2 << 20;
/// The most bulk calls in flight, if they are small: as many as there may be of other calls.
const CEILING: usize = 1024;

impl Window {
    /// An empty window of a channel with these options.
    pub(super) fn new(options: &ChannelOptions) -> Self {
        let mut bounds = Bounds {
            floor_bytes: FLOOR_BYTES,
            ceiling: CEILING,
            memory_budget: options.memory_budget,
            ..Bounds::default()
        };
        if let Some(count) = options.in_flight {
            (bounds.floor, bounds.floor_bytes, bounds.ceiling) = (count.max(1), 0, count.max(1));
        }
        Self(Mutex::new(lanes::Window::new(bounds)))
    }

    /// The path is expected to carry so much.
    pub(super) fn expect(&self, expected: Option<Expected>) {
        self.0.lock().expect(expected);
    }

    /// Gives a call a place, or has it wait for one; tells whether it may go.
    pub(super) fn enter(&self, call: &Arc<Call>, now: Duration) -> bool {
        let what = (call.class, call.volume);
        self.0.lock().enter(Arc::clone(call), what, now, |call, place| call.admit(|| place))
    }

    /// The calls that wait and whose time is over.
    pub(super) fn take_late(&self, is_late: impl Fn(&Call) -> bool) -> Vec<Arc<Call>> {
        self.0.lock().take_late(|call| is_late(call))
    }

    /// Gives a place back, and gives the calls that may go now. `moved` says how many bytes the call moved, if it was
    /// answered.
    pub(super) fn leave(&self, place: Place, moved: Option<usize>, now: Duration) -> Vec<Arc<Call>> {
        self.0.lock().leave(place, moved, now, |call, place| call.admit(|| place))
    }

    /// Bulk calls in flight, and whether others wait to be.
    pub(super) fn glance(&self) -> (usize, bool) {
        self.0.lock().glance()
    }

    /// How long the bulk that is in flight takes to arrive; nothing while its rate is not known.
    pub(super) fn bulk_takes(&self) -> Duration {
        self.0.lock().bulk_takes()
    }

    /// Bulk calls in flight, and how many may be.
    pub(super) fn explain(&self) -> (usize, Choice) {
        self.0.lock().explain()
    }
}
