//! Making what was written durable, and reporting a failure to every caller that it concerns.
//!
//! The kernel reports data that it could not write back once for each open file, to the flush that asks first (errseq, in its
//! sources). All calls on a node share its open file, so the next flush reports success. So flushes of a node go one after the
//! other, and each leaves behind what it got before the next one begins. They do not get slower by that: one covers everybody
//! who asked before it began, as a journal's commit does.

use std::sync::atomic::{AtomicU64, Ordering};

use howdah_vfs::Result;
use parking_lot::{Condvar, Mutex};

/// The flushes of a node.
#[derive(Debug, Default)]
pub(super) struct Flushes {
    state: Mutex<State>,
    ended: Condvar,
    /// Flushes that failed.
    losses: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    /// Counts who asks, and flushes that begin: what has the smaller number came first.
    step: u64,
    /// The step at which the last one began that succeeded.
    covered: u64,
    is_running: bool,
}

/// How many losses there were of a node's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Losses(u64);

/// A flush that runs. It ends however it ends, or nobody would flush that node again.
struct Running<'f> {
    flushes: &'f Flushes,
    began: u64,
    has_succeeded: bool,
}

impl State {
    fn next_step(&mut self) -> u64 {
        self.step += 1;
        self.step
    }
}

impl Flushes {
    /// The losses so far. Who compares them with those of before its own data was written knows whether that is
    /// among what was lost.
    pub(super) fn losses(&self) -> Losses {
        Losses(self.losses.load(Ordering::Acquire))
    }

    /// Returns once a flush has succeeded that began after this was called, its own or another's. If its own fails,
    /// `on_loss` has run, and the loss is counted, before any other begins or is taken for a success.
    pub(super) fn flush(&self, flush: impl FnOnce() -> Result<()>, on_loss: impl FnOnce()) -> Result<()> {
        let Some(mut running) = self.begin() else { return Ok(()) };
        let outcome = flush();
        if outcome.is_err() {
            on_loss();
            self.losses.fetch_add(1, Ordering::Release);
        }
        running.has_succeeded = outcome.is_ok();
        outcome
    }

    /// How many have asked, and how many began.
    #[cfg(test)]
    pub(super) fn steps(&self) -> u64 {
        self.state.lock().step
    }

    /// Waits until it is our turn, or needs no turn any more.
    fn begin(&self) -> Option<Running<'_>> {
        let mut state = self.state.lock();
        let asked = state.next_step();
        self.ended.wait_while(&mut state, |state| state.is_running && state.covered < asked);
        if state.covered > asked {
            return None;
        }
        state.is_running = true;
        Some(Running { flushes: self, began: state.next_step(), has_succeeded: false })
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let mut state = self.flushes.state.lock();
        state.is_running = false;
        if self.has_succeeded {
            state.covered = self.began;
        }
        // All at once: who is covered goes, and does not wait behind who flushes next.
        self.flushes.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::sync::mpsc;
    use std::thread;

    use howdah_vfs::FsError;

    use super::*;

    fn nothing() {}

    #[test]
    fn one_flush_covers_all_who_asked_before_it_began() {
        const OTHERS: u64 = 8;
        let (flushes, runs) = (Flushes::default(), AtomicUsize::new(0));
        let run = || -> Result<()> {
            runs.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        let (entered, is_in) = mpsc::channel();
        let (go, goes) = mpsc::channel::<()>();
        thread::scope(|scope| {
            let (flushes, run) = (&flushes, &run);
            let first = move || -> Result<()> {
                entered.send(()).expect("somebody waits");
                goes.recv().expect("it is let go");
                run()
            };
            scope.spawn(move || flushes.flush(first, nothing));
            is_in.recv().expect("it began");
            for _ in 0..OTHERS {
                scope.spawn(move || flushes.flush(run, nothing));
            }
            // Two steps of the first, and one of each other: all have asked, and none has begun.
            while flushes.steps() < 2 + OTHERS {
                thread::yield_now();
            }
            go.send(()).expect("it waits");
        });
        assert_eq!(runs.into_inner(), 2, "the first covers nobody who came later");
    }

    #[test]
    fn one_that_panics_keeps_nobody_waiting() {
        let flushes = Flushes::default();
        let panics = std::panic::AssertUnwindSafe(|| flushes.flush(|| panic!("a bug"), nothing));
        assert!(std::panic::catch_unwind(panics).is_err());
        assert_eq!(flushes.flush(|| Ok(()), nothing), Ok(()));
    }

    #[test]
    fn a_later_flush_is_one_of_its_own() {
        let (flushes, mut runs) = (Flushes::default(), 0);
        for _ in 0..3 {
            let outcome = flushes.flush(
                || {
                    runs += 1;
                    Ok(())
                },
                nothing,
            );
            assert_eq!(outcome, Ok(()));
        }
        assert_eq!(runs, 3);
    }

    #[test]
    fn a_loss_is_known_before_anybody_else_is_answered_and_covers_nobody() {
        let flushes = Flushes::default();
        let (reported, before) = (AtomicU64::new(0), flushes.losses());
        let (entered, is_in) = mpsc::channel();
        thread::scope(|scope| {
            let (flushes, reported) = (&flushes, &reported);
            let fails = move || -> Result<()> {
                entered.send(()).expect("somebody waits");
                while flushes.steps() < 3 {
                    thread::yield_now();
                }
                Err(FsError::Io)
            };
            let first = scope.spawn(move || flushes.flush(fails, || reported.store(1, Ordering::Relaxed)));
            is_in.recv().expect("it began");
            // Like the kernel: the next flush succeeds.
            let mut ran = false;
            let outcome = flushes.flush(
                || {
                    ran = true;
                    Ok(())
                },
                nothing,
            );
            assert_eq!(outcome, Ok(()));
            assert!(ran, "what failed covers nobody");
            assert_eq!(reported.load(Ordering::Relaxed), 1);
            assert_ne!(flushes.losses(), before);
            assert!(first.join().expect("it does not panic").is_err());
        });
        assert_eq!(flushes.losses(), Losses(1), "reported once");
    }
}
