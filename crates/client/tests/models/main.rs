//! Models of the channel's lock-free pieces: the real files, with threads and atomics of `shuttle`, which tries every interleaving where
//! steps are few, and very many where they are not. A failure prints the schedule that repeats it. Waiting for a time never ends there, so that a wake-up
//! that is lost is a thread that waits for ever.

mod sync;
#[path = "../../src/channel/wakeup.rs"]
#[allow(dead_code, unreachable_pub, reason = "it is the client's")]
mod wakeup;

use std::time::Duration;

use shuttle::sync::Arc;
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::thread::{self, JoinHandle};
use wakeup::Wakeup;

/// Schedules where there are too many for all.
const SCHEDULES: usize = 5_000;
/// It does not end.
const EVER: Duration = Duration::from_secs(3600);

/// A lane: its wakeup, and how many calls it carries.
#[derive(Default)]
struct Lane {
    wakeup: Wakeup,
    load: AtomicUsize,
}

impl Lane {
    fn is_loaded(&self) -> bool {
        self.load.load(Ordering::SeqCst) > 0
    }
}

fn calls(lane: &Arc<Lane>) -> JoinHandle<()> {
    let lane = Arc::clone(lane);
    thread::spawn(move || {
        lane.load.fetch_add(1, Ordering::SeqCst);
        lane.wakeup.wake_sleeper();
    })
}

/// The thread of a lane without calls.
fn sleeps(lane: &Lane) {
    lane.wakeup.sleep(|| lane.is_loaded());
    assert!(lane.is_loaded(), "it slept until there was a call");
}

#[test]
fn a_call_wakes_the_thread_that_goes_to_sleep() {
    let model = || {
        let lane = Arc::new(Lane::default());
        let call = calls(&lane);
        sleeps(&lane);
        call.join().expect("no panic");
    };
    shuttle::check_dfs(model, None);
}

#[test]
fn one_of_two_calls_does() {
    let model = || {
        let lane = Arc::new(Lane::default());
        let both = [calls(&lane), calls(&lane)];
        sleeps(&lane);
        both.into_iter().for_each(|call| call.join().expect("no panic"));
    };
    shuttle::check_random(model, SCHEDULES);
}

#[test]
fn a_wake_up_before_the_wait_counts() {
    let model = || {
        let lane = Arc::new(Lane::default());
        let waker = Arc::clone(&lane);
        let woken = thread::spawn(move || waker.wakeup.wake());
        lane.wakeup.wait(EVER);
        woken.join().expect("no panic");
    };
    shuttle::check_dfs(model, None);
}
