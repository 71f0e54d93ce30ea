//! A call under way, to be waited for or awaited.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use super::call::Call;
use super::datagram::Carrier;
use super::{Answer, CallError, lead};

/// A call under way: wait for it, or await it on any executor. Dropped, the call still runs, and its answer is thrown
/// away.
#[must_use = "the answer is thrown away unless somebody waits for it"]
pub struct Pending {
    call: Arc<Call>,
    /// What carries it, if no lane does.
    carrier: Option<Arc<Carrier>>,
}

impl Pending {
    /// A call that was started on a lane.
    pub(super) fn new(call: Arc<Call>) -> Self {
        Self { call, carrier: None }
    }

    /// A call that was started, and travels by datagrams.
    pub(super) fn by_datagrams(call: Arc<Call>, carrier: Arc<Carrier>) -> Self {
        Self { call, carrier: Some(carrier) }
    }

    /// Waits for the answer.
    pub fn wait(self) -> Result<Answer, CallError> {
        match &self.carrier {
            Some(carrier) => carrier.wait_for(&self.call),
            None => lead::wait_for(&self.call),
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
        if let Some(carrier) = &self.carrier {
            carrier.hurry();
        } else if let Some(lane) = self.call.lane() {
            lane.is_urgent.store(true, Ordering::SeqCst);
            lane.bell.ring();
        }
        polled
    }
}
