//! Threads for calls that block: as many as there are calls to make, up to a bound, so that one that waits delays no other.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::{Condvar, Mutex};

type Job = Box<dyn FnOnce() + Send>;

/// What becomes of jobs that did not begin when the threads are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtEnd {
    /// They are dropped.
    DropJobs,
    /// They run, on the threads that there are.
    RunJobs,
}

/// The threads. They end when this is dropped, each after its present job.
pub struct Threads {
    name: &'static str,
    most: usize,
    at_end: AtEnd,
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

/// Runs a job for each item, at most so many at a time, and gives what came of them in their order. Where the system gives no thread,
/// the caller's does all.
pub fn each_at_once<I: Sync, T: Send + Sync>(
    items: &[I],
    most: usize,
    job: impl Fn(&I) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let done: Vec<_> = items.iter().map(|_| OnceLock::new()).collect();
    let work = || {
        while let Some(number) =
            Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&number| number < items.len())
        {
            let _ = done[number].set(job(&items[number]));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..most.min(items.len()) {
            let started =
                std::thread::Builder::new().name("each-at-once".to_owned()).spawn_scoped(scope, work);
            if started.is_err() {
                break;
            }
        }
        work();
    });
    done.into_iter().map(|done| done.into_inner().expect("each item was taken")).collect()
}

impl Threads {
    /// No thread yet, and never more than `most`.
    pub fn new(name: &'static str, most: usize, at_end: AtEnd) -> Self {
        Self { name, most, at_end, shared: Arc::default() }
    }

    /// Runs a job when a thread is free. If the system gives no thread at all, the job is dropped: it must tell those who wait
    /// for it then.
    pub fn run(&self, job: impl FnOnce() + Send + 'static) {
        let mut queue = self.shared.queue.lock();
        queue.jobs.push_back(Box::new(job));
        if queue.idle >= queue.jobs.len() || queue.threads >= self.most {
            self.shared.work.notify_one();
            return;
        }
        let shared = Arc::clone(&self.shared);
        match std::thread::Builder::new().name(self.name.into()).spawn(move || shared.work()) {
            Ok(_) => queue.threads += 1,
            Err(error) => {
                tracing::warn!(%error, name = self.name, "starting a thread");
                if queue.threads == 0 {
                    let dropped = std::mem::take(&mut queue.jobs);
                    // A job may take locks when it is dropped.
                    drop(queue);
                    drop(dropped);
                }
            }
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        let mut queue = self.shared.queue.lock();
        queue.ending = true;
        let dropped = match self.at_end {
            AtEnd::DropJobs => std::mem::take(&mut queue.jobs),
            AtEnd::RunJobs => VecDeque::new(),
        };
        drop(queue);
        drop(dropped);
        self.shared.work.notify_all();
    }
}

impl Shared {
    fn work(&self) {
        while let Some(job) = self.next() {
            // The panic was reported; its thread goes on, since others may wait for it.
            let _ = catch_unwind(AssertUnwindSafe(job));
        }
    }

    fn next(&self) -> Option<Job> {
        let mut queue = self.queue.lock();
        loop {
            if let Some(job) = queue.jobs.pop_front() {
                return Some(job);
            }
            if queue.ending {
                queue.threads -= 1;
                return None;
            }
            queue.idle += 1;
            self.work.wait(&mut queue);
            queue.idle -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    const MOST: usize = 16;

    fn threads(at_end: AtEnd) -> Threads {
        Threads::new("test", MOST, at_end)
    }

    #[test]
    fn a_job_that_waits_delays_no_other() {
        let threads = threads(AtEnd::RunJobs);
        let (release, waits) = channel::<()>();
        threads.run(move || waits.recv().expect("released"));
        let (done, is_done) = channel();
        threads.run(move || done.send(()).expect("heard"));
        is_done.recv().expect("ran beside the one that waits");
        release.send(()).expect("waits");
    }

    #[test]
    fn a_job_that_panics_takes_no_thread_away() {
        let threads = Threads::new("test", 1, AtEnd::RunJobs);
        threads.run(|| panic!("as the test wants"));
        let (done, is_done) = channel();
        threads.run(move || done.send(()).expect("heard"));
        is_done.recv_timeout(std::time::Duration::from_secs(60)).expect("the thread goes on");
    }

    #[test]
    fn each_item_has_its_outcome_and_they_run_at_the_same_time() {
        let all = std::sync::Barrier::new(3);
        let meet = |number: &u32| {
            all.wait();
            number * 2
        };
        assert_eq!(each_at_once(&[1, 2, 3], 3, meet), [2, 4, 6]);
        assert_eq!(each_at_once(&[1, 2, 3], 1, |number| number * 2), [2, 4, 6]);
        assert_eq!(each_at_once(&[], 4, |number: &u32| *number), []);
    }

    #[test]
    fn further_jobs_wait_for_a_free_thread_and_run_or_are_dropped_at_the_end() {
        for (at_end, runs) in [(AtEnd::RunJobs, 1), (AtEnd::DropJobs, 0)] {
            let threads = threads(at_end);
            let (started, starts) = channel();
            let gate = Arc::new(parking_lot::RwLock::new(()));
            let closed = gate.write();
            for _ in 0..=MOST {
                let (started, gate) = (started.clone(), Arc::clone(&gate));
                threads.run(move || {
                    started.send(()).expect("heard");
                    drop(gate.read());
                });
            }
            drop(started);
            (0..MOST).for_each(|_| starts.recv().expect("started"));
            assert_eq!(threads.shared.queue.lock().threads, MOST);
            assert!(starts.try_recv().is_err());
            drop(threads);
            drop(closed);
            assert_eq!(starts.iter().count(), runs, "{at_end:?}");
        }
    }
}
