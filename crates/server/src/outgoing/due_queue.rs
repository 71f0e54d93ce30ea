//! What is to be done, each at its time, by threads that wait for it. Jobs for one peer occupy only some of the threads: a peer that
//! does not answer keeps no other waiting.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::time::Instant;

use parking_lot::{Condvar, Mutex};

/// Jobs in the order in which they are due, within bounds.
#[derive(Debug)]
pub struct DueQueue<J> {
    state: Mutex<State<J>>,
    changed: Condvar,
    bounds: QueueBounds,
}

/// How much a queue takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueBounds {
    /// Jobs that wait.
    pub jobs: usize,
    /// Those of them for one peer.
    pub jobs_of_peer: usize,
    /// Jobs for one peer that are done at the same time.
    pub at_once: usize,
}

/// By when a job is due, and among equals by when it came.
type Turn = (Instant, u64);

#[derive(Debug)]
struct State<J> {
    peers: HashMap<IpAddr, JobsOfPeer<J>>,
    /// The first job of each peer that may have one more done.
    next: BTreeSet<(Turn, IpAddr)>,
    count: usize,
    came: u64,
    has_ended: bool,
}

#[derive(Debug)]
struct JobsOfPeer<J> {
    jobs: BTreeMap<Turn, J>,
    /// How many are being done.
    busy: usize,
}

/// A job that is being done until this is dropped.
#[derive(Debug)]
pub struct DueJob<'q, J> {
    queue: &'q DueQueue<J>,
    peer: IpAddr,
    job: J,
}

impl<J> DueQueue<J> {
    /// An empty one.
    pub fn new(bounds: QueueBounds) -> Self {
        let (peers, next) = Default::default();
        let state = State { peers, next, count: 0, came: 0, has_ended: false };
        Self { state: Mutex::new(state), changed: Condvar::new(), bounds }
    }

    /// Puts a job for a peer in, to be done then; gives it back if there is no room.
    ///
    /// # Errors
    /// The queue is full, holds as many jobs for this peer as it may, or has ended.
    pub fn put(&self, peer: IpAddr, due: Instant, job: J) -> Result<(), J> {
        let mut state = self.state.lock();
        let of_peer = state.peers.get(&peer).map_or(0, |peer| peer.jobs.len());
        if state.has_ended || state.count >= self.bounds.jobs || of_peer >= self.bounds.jobs_of_peer {
            return Err(job);
        }
        state.came += 1;
        state.count += 1;
        let turn = (due, state.came);
        let at_once = self.bounds.at_once;
        state.change(peer, at_once, |of_peer| of_peer.jobs.insert(turn, job));
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// Waits for the next job that is due; `None`: the queue has ended.
    pub fn take(&self) -> Option<DueJob<'_, J>> {
        let mut state = self.state.lock();
        while !state.has_ended {
            match state.next.first().map(|((due, _), _)| *due) {
                None => self.changed.wait(&mut state),
                Some(due) if due > Instant::now() => {
                    self.changed.wait_until(&mut state, due);
                }
                Some(_) => return self.pop_from(&mut state),
            }
        }
        None
    }

    fn pop_from(&self, state: &mut State<J>) -> Option<DueJob<'_, J>> {
        let (turn, peer) = state.next.first().copied()?;
        let job = state.change(peer, self.bounds.at_once, |of_peer| {
            of_peer.busy += 1;
            of_peer.jobs.remove(&turn)
        })?;
        state.count -= 1;
        Some(DueJob { queue: self, peer, job })
    }

    /// The next job, whenever it is due.
    #[cfg(test)]
    pub fn pop(&self) -> Option<J>
    where
        J: Clone,
    {
        let job = self.pop_from(&mut self.state.lock())?;
        Some((*job).clone())
    }

    /// Ends it: nobody waits any more, and what is in it is not done.
    pub fn end(&self) {
        self.state.lock().has_ended = true;
        self.changed.notify_all();
    }
}

impl<J> State<J> {
    /// Changes what there is for a peer, and then its turn.
    fn change<T>(&mut self, peer: IpAddr, at_once: usize, change: impl FnOnce(&mut JobsOfPeer<J>) -> T) -> T {
        let of_peer = self.peers.entry(peer).or_insert_with(|| JobsOfPeer { jobs: BTreeMap::new(), busy: 0 });
        if let Some(turn) = of_peer.turn(at_once) {
            self.next.remove(&(turn, peer));
        }
        let changed = change(of_peer);
        if let Some(turn) = of_peer.turn(at_once) {
            self.next.insert((turn, peer));
        } else if of_peer.busy == 0 {
            self.peers.remove(&peer);
        }
        changed
    }
}

impl<J> JobsOfPeer<J> {
    fn turn(&self, at_once: usize) -> Option<Turn> {
        self.jobs.keys().next().copied().filter(|_| self.busy < at_once)
    }
}

impl<J> std::ops::Deref for DueJob<'_, J> {
    type Target = J;

    fn deref(&self) -> &J {
        &self.job
    }
}

impl<J> Drop for DueJob<'_, J> {
    fn drop(&mut self) {
        self.queue.state.lock().change(self.peer, self.queue.bounds.at_once, |of_peer| of_peer.busy -= 1);
        self.queue.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const PEER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const OTHER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));

    fn queue<J>(at_once: usize) -> DueQueue<J> {
        DueQueue::new(QueueBounds { jobs: 3, jobs_of_peer: 3, at_once })
    }

    #[test]
    fn jobs_come_when_they_are_due() {
        let queue = queue(8);
        let now = Instant::now();
        queue.put(PEER, now + Duration::from_millis(30), "later").expect("room");
        queue.put(PEER, now, "now").expect("room");
        queue.put(PEER, now, "and now").expect("room");
        assert_eq!(queue.put(PEER, now, "one more"), Err("one more"));
        let taken = [queue.take(), queue.take()].map(|job| job.map(|job| *job));
        assert_eq!(taken, [Some("now"), Some("and now")]);
        assert_eq!(queue.take().map(|job| *job), Some("later"));
        assert!(now.elapsed() >= Duration::from_millis(30));
        assert!(queue.state.lock().peers.is_empty(), "nothing is kept of a peer without jobs");
    }

    #[test]
    fn a_peer_that_takes_long_occupies_some_threads_and_no_more() {
        let queue = queue(1);
        let now = Instant::now();
        queue.put(PEER, now, 1).expect("room");
        queue.put(PEER, now, 2).expect("room");
        queue.put(OTHER, now, 3).expect("room");
        let first = queue.take().expect("due");
        assert_eq!(*first, 1);
        assert_eq!(queue.take().map(|job| *job), Some(3), "of the other peer");
        drop(first);
        assert_eq!(queue.take().map(|job| *job), Some(2));
    }

    #[test]
    fn one_peer_leaves_room_for_others() {
        let queue = DueQueue::new(QueueBounds { jobs: 3, jobs_of_peer: 2, at_once: 1 });
        let now = Instant::now();
        let put = |peer| queue.put(peer, now, ()).is_ok();
        assert_eq!([PEER, PEER, PEER, OTHER, OTHER].map(put), [true, true, false, true, false]);
    }

    #[test]
    fn who_waits_is_told_of_what_is_due_before_and_of_the_end() {
        let queue = queue(8);
        queue.put(PEER, Instant::now() + Duration::from_secs(600), 2).expect("room");
        std::thread::scope(|scope| {
            let first = scope.spawn(|| queue.take().map(|job| *job));
            queue.put(PEER, Instant::now(), 1).expect("room");
            assert_eq!(first.join().expect("no panic"), Some(1));
            let waiting = scope.spawn(|| queue.take().map(|job| *job));
            queue.end();
            assert_eq!(waiting.join().expect("no panic"), None);
        });
        assert_eq!(queue.put(PEER, Instant::now(), 3), Err(3));
    }
}
