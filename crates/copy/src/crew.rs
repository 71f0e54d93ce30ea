//! Work on many things at the same time, where work on one may find more: a bounded number of threads for all of it. Knows nothing of
//! what is done.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, Scope};

use parking_lot::Mutex;

/// Stack of a thread: work goes as deep as directories lie in each other. Only what is used takes memory.
const STACK: usize = 32 << 20;

/// The most that work at the same time. Each takes a thread.
const AT_ONCE_MAX: usize = 256;

/// How many threads may still be started.
pub(super) struct Crew {
    free: AtomicUsize,
}

impl Crew {
    /// So many at the same time, the caller's thread counted, or as many as are allowed.
    pub(super) fn new(most: usize) -> Self {
        Self { free: AtomicUsize::new(most.min(AT_ONCE_MAX).saturating_sub(1)) }
    }

    /// Does the work on all, some at the same time, and waits for all. Says whether each said yes. Work may call this again: who finds
    /// no free thread does all alone, so that nobody waits for a thread.
    pub(super) fn all<T: Send>(&self, items: Vec<T>, work: impl Fn(T) -> bool + Sync) -> bool {
        if items.len() < 2 {
            return items.into_iter().all(work);
        }
        let all = AtomicBool::new(true);
        let left = Mutex::new(items.into_iter());
        let next = || {
            let mut left = left.lock();
            left.next().map(|item| (item, left.len()))
        };
        let run = |item: T| _ = all.fetch_and(work(item), Ordering::Relaxed);
        thread::scope(|scope| {
            while let Some((item, left)) = next() {
                // Whenever threads have become free elsewhere they help here.
                let help = || std::iter::from_fn(next).for_each(|(item, _)| run(item));
                _ = (0..left).all(|_| self.start(scope, help));
                run(item);
            }
        });
        all.into_inner()
    }

    /// Starts one thread, if one is free and the system gives it; says whether.
    fn start<'s, 'e>(&'e self, scope: &'s Scope<'s, 'e>, work: impl FnOnce() + Send + 's) -> bool
    where
        'e: 's,
    {
        let less = |free: usize| free.checked_sub(1);
        if self.free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_err() {
            return false;
        }
        let body = move || {
            work();
            self.free.fetch_add(1, Ordering::Relaxed);
        };
        let builder = thread::Builder::new().name("copy-remove".to_owned()).stack_size(STACK);
        let is_started = builder.spawn_scoped(scope, body).is_ok();
        if !is_started {
            self.free.fetch_add(1, Ordering::Relaxed);
        }
        is_started
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn so_many_work_at_the_same_time_and_no_more() {
        let (crew, together) = (Crew::new(4), Barrier::new(4));
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = |_| {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            together.wait();
            now.fetch_sub(1, Ordering::SeqCst);
            true
        };
        assert!(crew.all((0..40).collect(), work));
        assert_eq!(most.into_inner(), 4);
    }

    #[test]
    fn work_that_finds_more_ends_though_no_thread_is_free() {
        let (crew, done) = (Crew::new(3), AtomicUsize::new(0));
        let one = |number: u32| {
            done.fetch_add(1, Ordering::Relaxed);
            number != 7
        };
        let ten = |_| crew.all((0..10).collect(), one);
        assert!(!crew.all((0..10).collect(), ten), "one of them said no");
        assert_eq!(done.into_inner(), 100);
        assert_eq!(crew.free.into_inner(), 2);
    }
}
