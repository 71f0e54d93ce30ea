//! Calls about locks: those of one lock owner on one node run in the order in which they came. Else a call that its program gave up could
//! undo what a later one locked.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use howdah_threads::{AtEnd, Threads};
use parking_lot::Mutex;

/// A node and a lock owner, by their numbers.
pub type OwnerOfNode = (u64, u64);

type Job = Box<dyn FnOnce() + Send>;

/// Threads for these calls.
pub struct LockOrder {
    threads: Threads,
    /// Jobs that wait for one before them. Each owner with a job that runs has an entry.
    queues: Mutex<HashMap<OwnerOfNode, VecDeque<Job>>>,
}

/// A job of an owner runs: its end lets the next one run.
struct Running {
    order: Arc<LockOrder>,
    whose: OwnerOfNode,
}

impl LockOrder {
    /// So many threads at most.
    pub fn new(at_once: usize) -> Arc<Self> {
        let threads = Threads::new("mount-lock", at_once, AtEnd::RunJobs);
        Arc::new(Self { threads, queues: Mutex::default() })
    }

    /// Runs a job after those that came before it from the same owner.
    pub fn run(self: &Arc<Self>, whose: OwnerOfNode, job: impl FnOnce() + Send + 'static) {
        let job: Job = Box::new(job);
        match self.queues.lock().entry(whose) {
            Entry::Occupied(mut queue) => return queue.get_mut().push_back(job),
            Entry::Vacant(none) => _ = none.insert(VecDeque::new()),
        }
        self.start(whose, job);
    }

    /// Whether an owner has a job that is not over.
    pub fn is_busy(&self, whose: OwnerOfNode) -> bool {
        self.queues.lock().contains_key(&whose)
    }

    fn start(self: &Arc<Self>, whose: OwnerOfNode, job: Job) {
        let running = Running { order: Arc::clone(self), whose };
        self.threads.run(move || {
            let _until_the_end = running;
            job();
        });
    }
}

/// Also if the job panicked, or no thread could be had for it.
impl Drop for Running {
    fn drop(&mut self) {
        let mut queues = self.order.queues.lock();
        let next = queues.get_mut(&self.whose).and_then(VecDeque::pop_front);
        if next.is_none() {
            queues.remove(&self.whose);
        }
        drop(queues);
        if let Some(next) = next {
            self.order.start(self.whose, next);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn jobs_of_one_owner_run_one_after_the_other_and_those_of_others_meanwhile() {
        let (order, (hold, held), (sender, receiver)) = (LockOrder::new(4), channel::<()>(), channel());
        order.run((1, 1), move || _ = held.recv());
        for number in 0..20 {
            let sender = sender.clone();
            order.run((1, 1), move || {
                sender.send(number).expect("heard");
                assert_ne!(number, 7, "as the test wants");
            });
        }
        for whose in [(1, 2), (2, 1)] {
            let sender = sender.clone();
            order.run(whose, move || sender.send(100).expect("heard"));
            assert_eq!(receiver.recv(), Ok(100));
        }
        assert!(order.is_busy((1, 1)));
        drop((hold, sender));
        assert_eq!(receiver.iter().collect::<Vec<_>>(), (0..20).collect::<Vec<_>>());
    }
}
