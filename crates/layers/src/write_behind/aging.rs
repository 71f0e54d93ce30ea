//! Sends less than a block after a time limit, so that other clients see it and a crash does not lose it.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use super::pools::Pools;
use super::shared::Shared;

/// The thread that sends gathered data after the time limit. It ends when this is dropped.
pub struct Aging {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Aging {
    pub fn start(shared: &Arc<Shared>, pools: &Arc<Pools>) -> Self {
        let (its, pools) = (Arc::clone(shared), Arc::clone(pools));
        let thread = thread::Builder::new().name("write-aging".to_owned());
        let thread = thread.spawn(move || its.send_aged(&pools));
        if let Err(error) = &thread {
            tracing::warn!(%error, "starting a thread: less than a block waits until its file is closed");
        }
        Self { shared: Arc::clone(shared), thread: thread.ok() }
    }
}

impl Drop for Aging {
    fn drop(&mut self) {
        self.shared.state.lock().aging.ends = true;
        self.shared.aging.notify_all();
        // Its panic was reported.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Shared {
    fn send_aged(self: &Arc<Self>, pools: &Arc<Pools>) {
        let mut state = self.state.lock();
        while !state.aging.ends {
            let Some((node, since)) = state.gathered_longest() else {
                state.aging.sleeps = true;
                self.aging.wait(&mut state);
                state.aging.sleeps = false;
                continue;
            };
            let due = since + self.gathered_for();
            if Instant::now() < due {
                self.aging.wait_until(&mut state, due);
            } else {
                self.send(&mut state, pools, &node);
            }
        }
    }
}
