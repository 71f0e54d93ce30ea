//! Threads for requests: as many as there are requests that wait, up to a bound, so that one that waits for a server delays
//! no other.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use crate::limits::CALLS_AT_ONCE_MAX;

type Job = Box<dyn FnOnce() + Send>;

/// The threads. They end when this is dropped and no job is left.
pub struct RequestThreads {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    work: Condvar,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
    ending: bool,
}

impl RequestThreads {
    /// Without a thread yet.
    pub fn new() -> Self {
        Self { shared: Arc::default() }
    }

    /// Runs a job when a thread is free. Only a system that gives no thread at all drops it, by which its request is answered.
    pub fn run(&self, job: impl FnOnce() + Send + 'static) {
        let mut queue = self.shared.queue.lock();
        queue.jobs.push_back(Box::new(job));
        if queue.idle >= queue.jobs.len() || queue.threads >= CALLS_AT_ONCE_MAX {
            self.shared.work.notify_one();
            return;
        }
        let shared = Arc::clone(&self.shared);
        match std::thread::Builder::new().name("mount".into()).spawn(move || shared.work()) {
            Ok(_) => queue.threads += 1,
            Err(error) => {
                tracing::warn!(%error, "starting a thread for requests");
                if queue.threads == 0 {
                    queue.jobs.clear();
                }
            }
        }
    }
}

impl Drop for RequestThreads {
    fn drop(&mut self) {
        self.shared.queue.lock().ending = true;
        self.shared.work.notify_all();
    }
}

impl Shared {
    fn work(&self) {
        let mut queue = self.queue.lock();
        loop {
            if let Some(job) = queue.jobs.pop_front() {
                drop(queue);
                job();
                queue = self.queue.lock();
            } else if queue.ending {
                return;
            } else {
                queue.idle += 1;
                self.work.wait(&mut queue);
                queue.idle -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_job_that_waits_delays_no_other() {
        let crew = RequestThreads::new();
        let (release, waits) = channel::<()>();
        crew.run(move || waits.recv().expect("released"));
        let (done, is_done) = channel();
        crew.run(move || done.send(()).expect("heard"));
        is_done.recv().expect("ran beside the one that waits");
        release.send(()).expect("waits");
    }

    #[test]
    fn further_jobs_wait_for_a_free_thread() {
        let crew = RequestThreads::new();
        let (started, starts) = channel();
        let gate = Arc::new(parking_lot::RwLock::new(()));
        let closed = gate.write();
        for _ in 0..=CALLS_AT_ONCE_MAX {
            let (started, gate) = (started.clone(), Arc::clone(&gate));
            crew.run(move || {
                started.send(()).expect("heard");
                drop(gate.read());
            });
        }
        (0..CALLS_AT_ONCE_MAX).for_each(|_| starts.recv().expect("started"));
        assert_eq!(crew.shared.queue.lock().threads, CALLS_AT_ONCE_MAX);
        assert!(starts.try_recv().is_err());
        drop(closed);
        starts.recv().expect("the last one ran");
    }
}
