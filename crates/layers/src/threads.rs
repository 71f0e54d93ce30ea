//! Threads for calls that block: as many as there are calls to make, up to a bound.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

/// Something to do.
type Job = Box<dyn FnOnce() + Send>;

/// The threads.
pub struct Threads {
    name: &'static str,
    shared: Arc<Shared>,
    most: usize,
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
    stopping: bool,
}

impl Threads {
    /// No thread yet, and never more than `most`.
    pub fn new(name: &'static str, most: usize) -> Self {
        Self { name, shared: Arc::default(), most }
    }

    /// Runs a job on some thread, when one is free. Without any thread (the system gives none) it is dropped, which
    /// whoever waits for it must see.
    pub fn run(&self, job: impl FnOnce() + Send + 'static) {
        let mut queue = self.shared.queue.lock();
        queue.jobs.push_back(Box::new(job));
        if queue.idle >= queue.jobs.len() || queue.threads >= self.most {
            self.shared.work.notify_one();
            return;
        }
        let shared = Arc::clone(&self.shared);
        let started = std::thread::Builder::new().name(self.name.into()).spawn(move || shared.work());
        match started {
            Ok(_) => queue.threads += 1,
            Err(error) => {
                tracing::debug!(%error, name = self.name, "starting a thread");
                if queue.threads == 0 {
                    queue.jobs.clear();
                }
            }
        }
    }
}

impl Drop for Threads {
    /// Threads end when their present job does.
    fn drop(&mut self) {
        let mut queue = self.shared.queue.lock();
        queue.stopping = true;
        queue.jobs.clear();
        self.shared.work.notify_all();
    }
}

impl Shared {
    fn work(&self) {
        while let Some(job) = self.next() {
            job();
        }
    }

    fn next(&self) -> Option<Job> {
        let mut queue = self.queue.lock();
        loop {
            if queue.stopping {
                queue.threads -= 1;
                return None;
            }
            if let Some(job) = queue.jobs.pop_front() {
                return Some(job);
            }
            queue.idle += 1;
            self.work.wait(&mut queue);
            queue.idle -= 1;
        }
    }
}
