//! The one stack of tasks that all workers take from, and how many of them may work.

use std::time::Duration;

use parking_lot::{Condvar, Mutex};

/// What distinguishes tasks for the stack.
pub(super) trait Weight {
    /// Whether it moves so much data that fewer workers than for others may be at it.
    fn is_heavy(&self) -> bool;
}

/// Tasks, last in first out. It ends when no task is left and nobody works on one that could bring more.
pub(super) struct Stack<T> {
    state: Mutex<State<T>>,
    /// For workers that may work on all tasks.
    changed: Condvar,
    /// For workers that may not work on heavy ones.
    light: Condvar,
    /// For those that may not, now, and for who waits for the end.
    widened: Condvar,
}

/// A worker works on a task.
pub(super) struct UntilDone<'s, T: Weight>(&'s Stack<T>);

impl<T: Weight> Drop for UntilDone<'_, T> {
    fn drop(&mut self) {
        self.0.done();
    }
}

struct State<T> {
    tasks: Vec<T>,
    working: usize,
    /// Workers with a lower number may work.
    allowed: usize,
    /// Those with a lower number than this one may work on heavy tasks, too.
    allowed_heavy: usize,
    /// So many workers the path of the blocks wants.
    wanted: usize,
    /// So many there are.
    started: usize,
    ended: bool,
}

impl<T: Weight> Stack<T> {
    /// An empty one, for so many workers at first.
    pub(super) fn new(allowed: usize) -> Self {
        let (tasks, working, wanted, started, ended) = Default::default();
        let state = State { tasks, working, allowed, allowed_heavy: allowed, wanted, started, ended };
        let (changed, light, widened) = Default::default();
        Self { state: Mutex::new(state), changed, light, widened }
    }

    pub(super) fn push(&self, task: T) {
        let is_heavy = task.is_heavy();
        let mut state = self.state.lock();
        state.tasks.push(task);
        let lacks_workers = state.lacks_workers();
        drop(state);
        if lacks_workers {
            self.widened.notify_all();
        }
        self.changed.notify_one();
        if !is_heavy {
            self.light.notify_one();
        }
    }

    /// Begins with these, also after an end that every worker has seen.
    pub(super) fn begin(&self, tasks: impl DoubleEndedIterator<Item = T>) {
        let mut state = self.state.lock();
        (state.ended, state.started) = (false, 0);
        drop(state);
        self.push_all(tasks);
    }

    /// Pushes many, to be taken in the order given.
    pub(super) fn push_all(&self, tasks: impl DoubleEndedIterator<Item = T>) {
        let mut state = self.state.lock();
        state.tasks.extend(tasks.rev());
        let lacks_workers = state.lacks_workers();
        drop(state);
        if lacks_workers {
            self.widened.notify_all();
        }
        self.wake_all();
    }

    /// The next task for a worker, who holds [`until_done`](Self::until_done) meanwhile; nothing when all is done.
    pub(super) fn take(&self, worker: usize) -> Option<T> {
        let mut state = self.state.lock();
        loop {
            if state.ended {
                return None;
            }
            if worker >= state.allowed {
                self.widened.wait(&mut state);
            } else if let Some(task) = state.next_for(worker) {
                state.working += 1;
                return Some(task);
            } else if worker < state.allowed_heavy {
                self.changed.wait(&mut state);
            } else {
                self.light.wait(&mut state);
            }
        }
    }

    /// A worker is done with its task when this is dropped, also by a panic: the others do not wait for it.
    pub(super) fn until_done(&self) -> UntilDone<'_, T> {
        UntilDone(self)
    }

    fn done(&self) {
        let mut state = self.state.lock();
        state.working -= 1;
        if state.working == 0 && state.tasks.is_empty() {
            state.ended = true;
            drop(state);
            self.wake_all();
            self.widened.notify_all();
        }
    }

    /// Whether this worker may go on with a heavy task.
    pub(super) fn allows_heavy(&self, worker: usize) -> bool {
        worker < self.state.lock().allowed_heavy
    }

    /// Lets so many workers work, and so many of them on heavy tasks.
    pub(super) fn allow(&self, allowed: usize, heavy: usize) {
        let mut state = self.state.lock();
        (state.allowed, state.allowed_heavy) = (allowed, heavy);
        drop(state);
        self.wake_all();
        self.widened.notify_all();
    }

    fn wake_all(&self) {
        self.changed.notify_all();
        self.light.notify_all();
    }

    /// Sets how many workers the path of the blocks wants. More workers than now wake the watching thread at once.
    pub(super) fn want(&self, wanted: usize) {
        let mut state = self.state.lock();
        state.wanted = wanted;
        if wanted > state.allowed_heavy {
            drop(state);
            self.widened.notify_all();
        }
    }

    /// How many workers the path of the blocks wants.
    pub(super) fn wanted(&self) -> usize {
        self.state.lock().wanted
    }

    /// There are so many workers: whether one more is to be started. Of those that may work only as many are as there is work for: a
    /// thousand threads that do nothing take longer to start and to end than a small copy.
    pub(super) fn lacks_workers(&self, started: usize) -> bool {
        let mut state = self.state.lock();
        state.started = started;
        state.lacks_workers()
    }

    /// No more workers can be started.
    pub(super) fn has_all_workers(&self) {
        self.state.lock().started = usize::MAX;
    }

    /// Whether tasks wait that another worker could take.
    pub(super) fn has_waiting(&self) -> bool {
        !self.state.lock().tasks.is_empty()
    }

    /// Waits for the end, at most so long and no longer than until more workers are wanted or lacking; says whether the end has come.
    pub(super) fn wait_for_end(&self, time: Duration) -> bool {
        let mut state = self.state.lock();
        if !state.ended && state.wanted <= state.allowed_heavy && !state.lacks_workers() {
            self.widened.wait_for(&mut state, time);
        }
        state.ended
    }
}

impl<T: Weight> State<T> {
    /// Whether there is more work than there are workers, and more may work.
    fn lacks_workers(&self) -> bool {
        self.started < self.allowed && self.started < self.working + self.tasks.len()
    }

    /// The topmost task that this worker may work on.
    fn next_for(&mut self, worker: usize) -> Option<T> {
        if worker < self.allowed_heavy {
            return self.tasks.pop();
        }
        // Heavy tasks are few: one for each large file that is begun.
        let place = self.tasks.iter().rposition(|task| !task.is_heavy())?;
        Some(self.tasks.remove(place))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    impl Weight for u32 {
        fn is_heavy(&self) -> bool {
            *self >= 100
        }
    }

    #[test]
    fn heavy_tasks_are_left_to_few_workers() {
        let stack = Stack::new(1);
        stack.allow(4, 2);
        stack.push_all([100_u32, 1, 101, 2].into_iter());
        assert_eq!((stack.take(3), stack.take(2)), (Some(1), Some(2)));
        assert!(stack.allows_heavy(1) && !stack.allows_heavy(2));
        assert_eq!((stack.take(0), stack.take(1)), (Some(100), Some(101)));
    }

    #[test]
    fn there_are_no_more_workers_than_work() {
        let stack = Stack::new(1000);
        assert!(!stack.lacks_workers(0));
        stack.push_all([1_u32, 2].into_iter());
        assert!(stack.lacks_workers(0) && stack.lacks_workers(1) && !stack.lacks_workers(2));
        assert_eq!((stack.take(0), stack.take(1)), (Some(1), Some(2)));
        stack.push(3);
        assert!(stack.lacks_workers(2) && !stack.lacks_workers(3));
        stack.allow(2, 2);
        assert!(!stack.lacks_workers(2));
    }

    #[test]
    fn all_tasks_are_done_and_then_it_ends() {
        let stack = Stack::new(3);
        let done = AtomicUsize::new(0);
        stack.push(4_u32);
        thread::scope(|scope| {
            for worker in 0..4 {
                let (stack, done) = (&stack, &done);
                scope.spawn(move || {
                    while let Some(depth) = stack.take(worker) {
                        // Each task but the last brings three more.
                        stack.push_all((0..3).filter(|_| depth > 0).map(|_| depth.saturating_sub(1)));
                        done.fetch_add(1, Ordering::Relaxed);
                        stack.done();
                    }
                });
            }
        });
        assert_eq!(done.into_inner(), 1 + 3 + 9 + 27 + 81);
        assert!(stack.wait_for_end(Duration::ZERO));
    }

    #[test]
    fn a_worker_that_panics_does_not_keep_the_others() {
        let stack = Stack::new(2);
        stack.push_all([1_u32, 2].into_iter());
        let panicked = thread::scope(|scope| {
            let worker = scope.spawn(|| {
                let _task = stack.take(0).map(|task| (task, stack.until_done()));
                panic!("as the test wants");
            });
            worker.join().is_err()
        });
        assert!(panicked && stack.take(1).is_some());
        drop(stack.until_done());
        assert_eq!(stack.take(1), None, "all has ended");
    }

    #[test]
    fn the_last_pushed_are_the_first_taken_in_their_order() {
        let stack = Stack::new(1);
        stack.push_all([1_u32, 2].into_iter());
        stack.push_all([3, 4].into_iter());
        let order: Vec<_> = (0..4).map(|_| stack.take(0).expect("a task")).collect();
        assert_eq!(order, [3, 4, 1, 2]);
    }
}
