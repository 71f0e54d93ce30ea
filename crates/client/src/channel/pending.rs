//! A call under way, to be waited for or awaited.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::call::Call;
use super::datagram::Carrier;
use super::shared::Shared;
use super::{Answer, CallError, lead};

/// A call under way: wait for it, or await it on any executor. Dropped, the call still runs, and its answer is thrown
/// away.
#[must_use = "the answer is thrown away unless somebody waits for it"]
pub struct Pending {
    call: Arc<Call>,
    carried_by: CarriedBy,
}

/// What carries a call.
enum CarriedBy {
    Lanes(Arc<Shared>),
    Datagrams(Arc<Carrier>),
}

impl Pending {
    /// A call that was started on a lane.
    pub(super) fn by_lanes(call: Arc<Call>, shared: Arc<Shared>) -> Self {
        Self { call, carried_by: CarriedBy::Lanes(shared) }
    }

    /// A call that was started, and travels by datagrams.
    pub(super) fn by_datagrams(call: Arc<Call>, carrier: Arc<Carrier>) -> Self {
        Self { call, carried_by: CarriedBy::Datagrams(carrier) }
    }

    /// Waits for the answer.
    pub fn wait(self) -> Result<Answer, CallError> {
        match &self.carried_by {
            CarriedBy::Lanes(shared) => lead::wait_for(shared, &self.call),
            CarriedBy::Datagrams(carrier) => carrier.wait_for(&self.call),
        }
    }

    /// Whether the answer is there, so that waiting takes no time.
    pub fn is_done(&self) -> bool {
        self.call.is_done()
    }
}

impl Future for Pending {
    type Output = Result<Answer, CallError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = self.call.poll(context.waker());
        if polled.is_ready() {
            return polled;
        }
        // Nobody leads for who does not wait.
        match &self.carried_by {
            CarriedBy::Datagrams(carrier) => carrier.hurry(),
            CarriedBy::Lanes(shared) => {
                if let Some(lane) = self.call.lane() {
                    shared.lanes[lane].hurry();
                }
            }
        }
        polled
    }
}
