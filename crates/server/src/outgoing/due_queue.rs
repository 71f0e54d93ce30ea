//! What is to be done, each at its time, by threads that wait for it.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Instant;

use parking_lot::{Condvar, Mutex};

/// Jobs in the order in which they are due, so many at most.
#[derive(Debug)]
pub struct DueQueue<J> {
    state: Mutex<State<J>>,
    changed: Condvar,
    most: usize,
}

#[derive(Debug)]
struct State<J> {
    /// By when they are due, and among equals by when they came. The next one is the last.
    jobs: BTreeMap<Reverse<(Instant, u64)>, J>,
    came: u64,
    has_ended: bool,
}

impl<J> DueQueue<J> {
    /// An empty one for so many jobs.
    pub fn new(most: usize) -> Self {
        let state = State { jobs: BTreeMap::new(), came: 0, has_ended: false };
        Self { state: Mutex::new(state), changed: Condvar::new(), most }
    }

    /// Puts a job in, to be done then; gives it back if there is no room.
    ///
    /// # Errors
    /// The queue is full, or has ended.
    pub fn put(&self, due: Instant, job: J) -> Result<(), J> {
        let mut state = self.state.lock();
        if state.has_ended || state.jobs.len() >= self.most {
            return Err(job);
        }
        state.came += 1;
        let key = Reverse((due, state.came));
        state.jobs.insert(key, job);
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// Waits for the next job that is due; `None`: the queue has ended.
    pub fn take(&self) -> Option<J> {
        let mut state = self.state.lock();
        while !state.has_ended {
            match state.jobs.last_key_value().map(|(Reverse((due, _)), _)| *due) {
                None => self.changed.wait(&mut state),
                Some(due) if due > Instant::now() => {
                    self.changed.wait_until(&mut state, due);
                }
                Some(_) => return state.jobs.pop_last().map(|(_, job)| job),
            }
        }
        None
    }

    /// The next job, whenever it is due.
    #[cfg(test)]
    pub fn pop(&self) -> Option<J> {
        self.state.lock().jobs.pop_last().map(|(_, job)| job)
    }

    /// Ends it: nobody waits any more, and what is in it is not done.
    pub fn end(&self) {
        self.state.lock().has_ended = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn jobs_come_when_they_are_due() {
        let queue = DueQueue::new(3);
        let now = Instant::now();
        queue.put(now + Duration::from_millis(30), "later").expect("room");
        queue.put(now, "now").expect("room");
        queue.put(now, "and now").expect("room");
        assert_eq!(queue.put(now, "one more"), Err("one more"));
        assert_eq!([queue.take(), queue.take()], [Some("now"), Some("and now")]);
        assert_eq!(queue.take(), Some("later"));
        assert!(now.elapsed() >= Duration::from_millis(30));
    }

    #[test]
    fn who_waits_is_told_of_what_is_due_before_and_of_the_end() {
        let queue = DueQueue::new(3);
        queue.put(Instant::now() + Duration::from_secs(600), 2).expect("room");
        std::thread::scope(|scope| {
            let first = scope.spawn(|| queue.take());
            queue.put(Instant::now(), 1).expect("room");
            assert_eq!(first.join().expect("no panic"), Some(1));
            let waiting = scope.spawn(|| queue.take());
            queue.end();
            assert_eq!(waiting.join().expect("no panic"), None);
        });
        assert_eq!(queue.put(Instant::now(), 3), Err(3));
    }
}
