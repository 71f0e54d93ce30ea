//! How many workers: as many as the path of the blocks wants; beyond that more while they pay, and fewer where they do as well, by
//! measurement. Pure.

use std::time::Duration;

/// At first, and at least: enough to overlap reading, sending and waiting on a short path.
pub(super) const START: usize = 4;

/// The same where a file has one writer anyway: who writes, and who reads meanwhile. On a short path more have only more on its
/// way than the socket holds. With one processor these two would only take turns: one begins, and more are let in if that pays, as on a
/// long path.
pub(super) const START_OF_ONE_WRITER: usize = 2;

/// What a step up must bring to be worth it: less is within the noise.
const WORTH: f64 = 1.10;

/// What half of the workers must still bring for half to be enough.
const AS_GOOD: f64 = 0.95;

/// After so many calm intervals more, or fewer, are tried again: the path may have changed, and a step up may have been
/// the luck of a moment.
const CALM: u32 = 20;

/// What of a worker's time a call takes that waits for nobody: with one worker for each such part of a call's latency, both ends
/// are as busy with small files as on a path of no length. At 100 ms, 2,000 workers copied 2,000 files in 3.3 s, 768 in 3.9 s.
const OWN_TIME: Duration = Duration::from_micros(48);

/// The least time that a measurement means something.
pub(super) const INTERVAL: Duration = Duration::from_millis(250);

/// A file that is dealt with counts as so many bytes: many small files are work too.
const FILE_WORTH: u64 = 64 * 1024;

/// Decides how many workers there are.
#[derive(Debug)]
pub(super) struct Width {
    now: usize,
    least: usize,
    most: usize,
    fixed: bool,
    /// So many the path of the blocks wants.
    path: usize,
    /// Before the step that is being tried.
    before: Option<(usize, f64)>,
    /// Whether more are tried next, and not fewer.
    up_next: bool,
    calm: u32,
}

impl Width {
    /// Exactly so many, or as many as pay within these bounds.
    pub(super) fn new(jobs: Option<usize>, least: usize, most: usize) -> Self {
        let least = least.min(most).max(1);
        let now = jobs.unwrap_or(least).max(1);
        Self { now, least, most, fixed: jobs.is_some(), path: 0, before: None, up_next: true, calm: CALM }
    }

    pub(super) fn now(&self) -> usize {
        if self.fixed { self.now } else { self.now.max(self.path) }
    }

    /// The path of the blocks wants so many. They are not tried: the path was measured.
    pub(super) fn on_path(&mut self, wanted: usize) {
        let wanted = wanted.min(self.most);
        if wanted > self.now {
            // The rate before says nothing of so many.
            self.before = None;
        }
        self.path = wanted;
    }

    /// How many workers small files want, where a call takes so long: each file has its own few calls, one after the other.
    pub(super) fn for_small_files(&self, latency: Duration, most: usize) -> usize {
        let many = latency.as_micros() / OWN_TIME.as_micros();
        if self.fixed { self.now } else { usize::try_from(many).unwrap_or(most).min(most) }
    }

    /// An interval is over in which so much was done; `of_no_use` if workers had nothing to do, or waited for one that
    /// writes. Gives the workers for the next one.
    pub(super) fn on_interval(&mut self, bytes: u64, files: u64, time: Duration, of_no_use: bool) -> usize {
        if self.fixed || of_no_use || time.is_zero() || self.path > self.now {
            return self.now();
        }
        let rate = (bytes + files * FILE_WORTH) as f64 / time.as_secs_f64();
        match self.before.take() {
            Some((before, rate_before)) => self.judge(before, rate_before, rate),
            None if self.calm < CALM => self.calm += 1,
            None if self.up_next => self.step_up(rate),
            None => self.step_down(rate),
        }
        self.now()
    }

    /// A step was tried: it stays if it paid, and if a step up paid the next is tried at once.
    fn judge(&mut self, before: usize, rate_before: f64, rate: f64) {
        let was_up = self.now > before;
        let pays = rate >= rate_before * if was_up { WORTH } else { AS_GOOD };
        if was_up && pays {
            return self.step_up(rate);
        }
        if !pays {
            self.now = before;
        }
        self.up_next = !was_up;
        self.calm = 0;
    }

    fn step_up(&mut self, rate: f64) {
        let next = (self.now * 2).min(self.most);
        self.up_next = next > self.now;
        self.step_to(next, rate);
    }

    fn step_down(&mut self, rate: f64) {
        let next = (self.now / 2).max(self.least);
        self.up_next = next == self.now;
        self.step_to(next, rate);
    }

    fn step_to(&mut self, next: usize, rate: f64) {
        if next != self.now {
            self.before = Some((self.now, rate));
            self.now = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The width after many intervals, where so many workers are of use.
    fn settled(useful: usize) -> usize {
        let mut width = Width::new(None, START, 64);
        let mut seen = Vec::new();
        for _ in 0..100 {
            let bytes = width.now().min(useful) as u64 * 1_000_000;
            seen.push(width.on_interval(bytes, 0, INTERVAL, false));
        }
        seen.sort_unstable();
        seen[50]
    }

    #[test]
    fn it_grows_while_that_pays() {
        assert_eq!(settled(1), 4);
        assert_eq!(settled(8), 8);
        assert_eq!(settled(30), 32);
        assert_eq!(settled(1000), 64);
    }

    #[test]
    fn what_was_only_luck_is_given_back() {
        let mut width = Width::new(None, START, 64);
        for luck in 1..5 {
            width.on_interval(luck * 1_000_000, 0, INTERVAL, false);
        }
        assert_eq!(width.now(), 64);
        for _ in 0..20 * CALM {
            width.on_interval(1_000_000, 0, INTERVAL, false);
        }
        assert_eq!(width.now(), 4);
    }

    #[test]
    fn it_begins_with_the_least_and_comes_back_to_it() {
        let mut width = Width::new(None, START_OF_ONE_WRITER, 64);
        assert_eq!(width.now(), 2);
        for _ in 0..10 * CALM {
            width.on_interval(1_000_000, 0, INTERVAL, false);
        }
        assert_eq!(width.now(), 2);
        assert_eq!(Width::new(None, START, 1).now(), 1);
    }

    #[test]
    fn what_the_path_wants_is_given_at_once_and_not_kept() {
        let mut width = Width::new(None, START, 64);
        width.on_path(40);
        assert_eq!(width.on_interval(1_000_000, 0, INTERVAL, false), 40);
        width.on_path(1000);
        assert_eq!(width.now(), 64);
        width.on_path(0);
        assert_eq!(width.now(), 4);
        let mut fixed = Width::new(Some(3), START, 64);
        fixed.on_path(40);
        assert_eq!(fixed.now(), 3);
    }

    #[test]
    fn small_files_have_as_many_workers_as_their_calls_take_long() {
        let width = Width::new(None, START, 256);
        let many = [50, 1_000, 20_000, 100_000, 10_000_000]
            .map(|us| width.for_small_files(Duration::from_micros(us), 2048));
        assert_eq!(many, [1, 20, 416, 2048, 2048]);
        assert_eq!(Width::new(Some(3), START, 256).for_small_files(Duration::from_secs(1), 2048), 3);
    }

    #[test]
    fn what_was_asked_for_is_given_and_starving_says_nothing() {
        let mut width = Width::new(Some(3), START, 64);
        assert_eq!(width.on_interval(1, 0, INTERVAL, false), 3);
        let mut width = Width::new(None, START, 64);
        assert_eq!(width.on_interval(1, 0, INTERVAL, true), 4);
    }
}
