//! Waiting for an answer no longer than one may.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Waits for what is under way, so long and no longer.
pub(crate) fn wait_at_most<F: Future>(future: F, patience: Duration) -> Option<F::Output> {
    let deadline = Instant::now() + patience;
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let (mut future, mut context) = (pin!(future), Context::from_waker(&waker));
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return Some(output);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        thread::park_timeout(left);
    }
}

/// Wakes the thread that waits.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_comes_is_waited_for_no_longer() {
        assert_eq!(wait_at_most(std::future::pending::<()>(), Duration::from_millis(1)), None);
        assert_eq!(wait_at_most(std::future::ready(7), Duration::ZERO), Some(7));
    }
}
