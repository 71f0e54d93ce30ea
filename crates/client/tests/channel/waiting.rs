//! Ways to wait: later, in a future, beyond what may be in flight, beyond the end of the channel.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use howdah_client::channel::{Answer, CallError, ChannelOptions, Class, Lanes, Pending};
use howdah_tune::flight::Reason;

use crate::scripted;
use crate::served::{Nothing, null, open, read, request, serve, start_read};

/// The smallest executor: sleeps until it is woken.
fn block_on(pending: Pending) -> Result<Answer, CallError> {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut pending = pin!(pending);
    loop {
        match pending.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(outcome) => return outcome,
            Poll::Pending => thread::park(),
        }
    }
}

#[test]
fn a_call_can_be_awaited() {
    let served = serve();
    let channel = open(served.address, ChannelOptions::default());
    for _ in 0..50 {
        let pending = [0, 1, 2].map(|_| channel.start(request(0, &Nothing, Class::Attributes)));
        null(&channel).expect("an answer to who waits meanwhile");
        for pending in pending.into_iter().rev() {
            block_on(pending).expect("an answer");
        }
    }
}

#[test]
fn one_thread_may_start_more_than_may_be_in_flight_and_wait_later() {
    let address = scripted::start(|_, mut guest| {
        loop {
            let came = guest.call()?;
            guest.answer(&came, &scripted::read_results(&came.xid.to_be_bytes()))?;
        }
    });
    for lanes in [1, 3] {
        let options =
            ChannelOptions { lanes: Lanes::Fixed(lanes), in_flight: Some(2), ..ChannelOptions::default() };
        let channel = open(address, options);
        let reads: Vec<_> = (0..50).map(|_| start_read(&channel, b"node", 0, 4, Vec::new())).collect();
        let report = channel.report();
        assert!(report.in_flight <= 2, "{report:?}");
        assert_eq!(report.flight.target, 2);
        assert!(matches!(report.flight.reason, Reason::Ceiling | Reason::Floor), "{report:?}");
        let mut xids: Vec<_> = reads.into_iter().map(|pending| read(pending).0).collect();
        xids.dedup();
        assert_eq!(xids.len(), 50);
    }
}

#[test]
fn calls_in_flight_follow_what_is_measured() {
    let served = serve();
    let channel = open(served.address, ChannelOptions::default());
    let node = crate::served::create(&channel, &served.root, "file");
    for _ in 0..200 {
        read(start_read(&channel, &node, 0, 4096, Vec::new()));
    }
    let report = channel.report();
    assert!(report.flight.rate > 0.0 && report.flight.target >= 2, "{report:?}");
    let reads = report.procedures.iter().find(|row| row.procedure == 6).expect("READ was counted");
    assert_eq!((reads.calls, reads.answers, reads.errors), (200, 200, 0));
    assert!(!reads.latency.is_zero());
}

#[test]
fn who_waits_when_the_channel_closes_is_told() {
    let address = scripted::start(|_, mut guest| guest.ignore_all());
    let channel = open(address, ChannelOptions::default());
    let pending = [0, 1].map(|_| channel.start(request(0, &Nothing, Class::Attributes)));
    drop(channel);
    for pending in pending {
        assert!(matches!(pending.wait(), Err(CallError::Closed)));
    }
}
